import "react";

declare module "react" {
  interface InputHTMLAttributes<T> {
    /** A field that takes a whole folder; every browser has it under this name. */
    readonly webkitdirectory?: string;
  }
}
