// Writes CSV for other programs (RFC 4180). An apostrophe keeps spreadsheets from reading a cell as
// a formula; read-table.ts removes the apostrophe again.

/**
 * Matches text that gets an apostrophe in front: the start of a formula, and an apostrophe, so that
 * reading can remove the first apostrophe safely.
 */
const formulaStart = /^[=+\-@\t\r']/;

function csvValue(value: string | null): string {
  const text = value ?? '';
  const guarded = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** Formats a row, with the line end. */
export function csvRow(values: readonly (string | null)[]): string {
  return `${values.map(csvValue).join(',')}\n`;
}
