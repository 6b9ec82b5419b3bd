// Faults in how a data folder is encrypted.
const KEY = ["test/storage/folder_key.test.ts"];
const QUERY = ["test/introspection/encrypted.test.ts"];
const TOOLS = ["test/growth/encryption.test.ts"];
const SERVER = ["test/conformance/encryption.test.ts"];

export const adaptersKey = [
  {
    file: "adapters/libsql/file/folder_key.ts",
    what: "the cipher gets the key as it is, and uses a part of it",
    find: 'derived(key, "database", DATABASE_KEY_BYTES).toString("base64")',
    replace: "key",
    tests: KEY,
  },
  {
    file: "adapters/libsql/file/folder_key.ts",
    what: "the folder notes its key",
    find: 'derived(key, "fingerprint", FINGERPRINT_BYTES).toString("hex")',
    replace: "key",
    tests: SERVER,
  },
  {
    file: "adapters/libsql/file/folder_key.ts",
    what: "a libSQL that does not encrypt is taken",
    find: "if (readFileSync(file)",
    replace: "if (true || readFileSync(file)",
    tests: KEY,
  },
  {
    file: "adapters/installation/folder.ts",
    what: "a key that is not the folder's looks like damage",
    find: "if (noted === given) return;",
    replace: "if (noted !== given) return;",
    tests: TOOLS,
  },
  {
    file: "adapters/installation/folder_key.ts",
    what: "a key is ignored where a database server has the rows",
    find: 'if (config["storage.database-url"] !== "") {',
    replace: "if (false) {",
    tests: TOOLS,
  },
  {
    file: "adapters/libsql/query/database.ts",
    what: "what a query of an encrypted folder sorts is in a clear file",
    find: 'pragma temp_store = ${isEncrypted ? "memory" : "file"}',
    replace: "pragma temp_store = file",
    tests: QUERY,
  },
  {
    file: "adapters/libsql/query/command.ts",
    what: "a query process has the key in its environment",
    find: "const env = withoutKeys(process.env);",
    replace: "const env = process.env;",
    tests: SERVER,
  },
  {
    file: "adapters/installation/files.ts",
    what: "the files of an encrypted folder are opened without a key",
    find: "databaseKey: key?.databaseKey }",
    replace: "databaseKey: undefined }",
    tests: SERVER,
  },
  {
    file: "adapters/tools/live_copy.ts",
    what: "a copy has no key",
    find: "new Database(to, keyOption(keyTo))",
    replace: "new Database(to)",
    tests: TOOLS,
  },
  {
    file: "adapters/tools/backup.ts",
    what: "a copy has the key of the original, whatever is asked for",
    find: "keyTo: keyTo?.databaseKey,",
    replace: "keyTo: key?.databaseKey,",
    tests: TOOLS,
  },
  {
    file: "adapters/tools/target.ts",
    what: "a reshard or import leaves the key out",
    find: "openLibsql({ url: folder.partitionUrl(partition), databaseKey })",
    replace: "openLibsql({ url: folder.partitionUrl(partition) })",
    tests: TOOLS,
  },
];
