// Message-IDs that a relay names in its 250 reply, because it replaces our Message-ID. Answers to
// the mail then refer to the new id. Rules match words, not hosts: relays have many names, and
// gateways in front of them.

interface IdRule {
  /** Name of the relay for readers, if useful with the form of the id. */
  source: string;
  /**
   * Matched against the text of the 250 reply without codes. The group captures the id up to the
   * domain.
   */
  words: RegExp;
  /** A real reply without codes (names changed). */
  example: string;
}

export const idRules: readonly IdRule[] = [
  {
    source: 'Amazon SES: <ID@REGION.amazonses.com>',
    words: /^Ok:? ([0-9a-f]{16}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9]{6})$/i,
    example: 'Ok 0102018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000',
  },
  {
    source: 'any relay that writes the whole id, as Microsoft 365 and Brevo do',
    words: /<([^<>@\s]{1,250})@[^<>@\s]{1,255}>/,
    example:
      '<AM0PR01MB1234ABCD@AM0PR01MB1234.eurprd01.prod.exchangelabs.example> [Hostname=AM0PR01MB1234]',
  },
];

/** Returns the id that a relay gave a mail, up to the domain; null if the 250 reply names no id. */
export function furtherIdIn(text: string): string | null {
  for (const { words } of idRules) {
    const id = words.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  return null;
}
