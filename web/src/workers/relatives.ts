// Languages that repeat each other, in a file of their own so that the build puts them side by side: compression sees only so
// far back, and with a relative in sight the second one costs next to nothing.
export { default as css } from "highlight.js/lib/languages/css";
export { default as javascript } from "highlight.js/lib/languages/javascript";
export { default as scss } from "highlight.js/lib/languages/scss";
export { default as typescript } from "highlight.js/lib/languages/typescript";
