// The form in which DKIM signs the value of a header field: who makes signatures and who checks them
// must write it alike.

/** The value in relaxed form (RFC 6376 3.4.2); folds are CRLF. */
export function relaxedValue(value: string): string {
  if (!/[\r\t]| {2}|^ | $/.test(value)) return value;
  return value
    .replaceAll('\r\n', '')
    .replace(/[\t ]+/g, ' ')
    .replace(/^ | $/g, '');
}
