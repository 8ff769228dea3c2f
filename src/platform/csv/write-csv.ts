// Writes CSV for other programs (RFC 4180). A guard keeps spreadsheets from reading a cell as a
// formula; read-table.ts removes it.

/**
 * Characters that spreadsheets read as the start of a formula. The apostrophe is guarded too, so
 * that the guard can be undone.
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
