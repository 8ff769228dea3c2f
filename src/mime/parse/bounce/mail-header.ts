// Header fields of a parsed mail by name, for the readers of reports.
import type { ParsedMail } from '../parsed-mail.ts';

/** The first value of a field, `name` in lower case, or null. */
export function findHeader(mail: ParsedMail, name: string): string | null {
  return mail.headers.find((field) => field.name.toLowerCase() === name)?.value ?? null;
}
