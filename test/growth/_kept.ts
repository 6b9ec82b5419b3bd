import Database from "libsql";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Data folders of earlier formats as text, each made once, by the version that had the format. */
const KEPT = path.join(import.meta.dirname, "kept");

/** The formats of the folders that are kept. */
export function keptFormats(): number[] {
  return readdirSync(KEPT).map((name) => Number(/\d+/.exec(name)?.[0])).sort((a, b) => a - b);
}

const fileOf = (format: number) => path.join(KEPT, `format_${format}.sql`);

/** Keeps the data of a stopped server: its database, and in a comment what its folder says of itself. */
export function keep(folder: string, format: number): void {
  const about = readFileSync(path.join(folder, "perdure.json"), "utf8");
  const database = new Database(path.join(folder, "perdure.db"));
  const all = (query: string) => database.prepare(query).raw().all([]) as string[][];
  const made = all(
    "select type, name, sql from sqlite_master where name not like 'sqlite_%' and sql <> ''",
  );
  const rows = made.filter(([type]) => type === "table").flatMap(([, table]) => {
    const quoted = all(`select name from pragma_table_info('${table}')`)
      .map(([column]) => `quote("${column}")`);
    return all(`select ${quoted.join(" || ', ' || ")} from ${table}`)
      .map(([values]) => `insert into ${table} values (${values})`);
  });
  database.close();
  const statements = [...made.map(([, , sql]) => sql), ...rows].map((one) => `${one};\n`);
  writeFileSync(fileOf(format), `-- ${JSON.stringify(JSON.parse(about))}\n${statements.join("")}`);
}

/** Makes a data folder of what was kept. */
export function restore(format: number, folder: string): void {
  const text = readFileSync(fileOf(format), "utf8");
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(path.join(folder, "perdure.json"), text.slice(3, text.indexOf("\n")));
  const database = new Database(path.join(folder, "perdure.db"));
  database.exec(`pragma auto_vacuum = incremental; pragma journal_mode = wal; ${text}`);
  database.close();
}
