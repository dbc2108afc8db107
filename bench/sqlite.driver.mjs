/** better-sqlite3 in the version that the running Node.js needs, as libs/database/src/sqlite.driver.ts chooses it. */
const isNapi = Number(process.versions.node.split('.')[0]) >= 22;
export const { default: Database } = await import(isNapi ? 'better-sqlite3-napi' : 'better-sqlite3');
