// The emulator looks for a window when it is loaded, and in a worker there is none.
Object.assign(globalThis, { window: globalThis });
