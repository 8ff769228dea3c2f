// CSV for others to read (RFC 4180), in which a spreadsheet finds no formula; read-table.ts takes the
// guard away again.

/** Read as the start of a formula by spreadsheets; an apostrophe too, so that it can be undone. */
const formulaStart = /^[=+\-@\t\r']/;

function csvValue(value: string | null): string {
  const text = value ?? '';
  const guarded = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** One row, with its line end. */
export function csvRow(values: readonly (string | null)[]): string {
  return `${values.map(csvValue).join(',')}\n`;
}
