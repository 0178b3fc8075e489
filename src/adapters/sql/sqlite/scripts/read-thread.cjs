// Answers queries on a read-only connection of its own, one after the other, in the order in which they come.
const { parentPort, workerData } = require("node:worker_threads");

const { driver, addon, path, busyMs } = workerData;
const isBuiltin = driver === "node:sqlite";

function loadDriver() {
  if (isBuiltin) return process.getBuiltinModule(driver);
  if (addon.isNative === false) return require(addon.file);
  const holder = { exports: {} };
  process.dlopen(holder, addon.file);
  return holder.exports;
}

const { DatabaseSync } = loadDriver();
const statements = new Map();
let database;

function open() {
  database = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
  database.exec("pragma query_only = on; pragma trusted_schema = off");
}

function statement(sql) {
  let known = statements.get(sql);
  if (known === undefined) {
    known = database.prepare(sql);
    statements.set(sql, known);
  }
  return known;
}

// The built-in module binds every number as a float.
function bind(values) {
  return isBuiltin ? values.map((value) => (Number.isInteger(value) ? BigInt(value) : value)) : values;
}

// The package's `all` throws without SQLite's code; the first step again brings it out.
function listRows(prepared, values) {
  try {
    return prepared.all(...values);
  } catch (thrown) {
    if (thrown?.errcode === undefined) prepared.get(...values);
    throw thrown;
  }
}

parentPort.on("message", ({ id, kind, sql, values }) => {
  try {
    if (kind === "close") {
      statements.clear();
      database?.close();
      parentPort.postMessage({ id, rows: [] });
      return;
    }
    if (database === undefined) open();
    const isQuery = kind === "all";
    // What the connection was asked to begin and did not end must not hold back the clean-up of the store.
    if (kind === "begin" && database.isTransaction) database.exec("rollback");
    if (!isQuery) database.exec(kind === "begin" ? "begin deferred" : "commit");
    parentPort.postMessage({ id, rows: isQuery ? listRows(statement(sql), bind(values)) : [] });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    parentPort.postMessage({ id, failure: { message, errcode: thrown?.errcode } });
  }
});
