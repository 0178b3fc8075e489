const { closeSync, openSync } = require("node:fs");

/** Puts a file in the place of a standard stream: a file that is opened takes the lowest free number. */
exports.replace = (stream, file, flags) => {
  closeSync(stream);
  if (openSync(file, flags) !== stream) throw new Error(`standard stream ${stream} cannot be replaced`);
};
