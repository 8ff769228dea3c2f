// Message-IDs that a relay names in its 250, because it puts them in place of ours. Answers then
// name the new id. The words decide, not the host: relays have many names, and gateways in front of
// them.

interface IdRule {
  /** The relay, for readers, and where useful the form of the id. */
  source: string;
  /**
   * Matched against the text of the 250 without the codes; the group is the part of the id before
   * the domain.
   */
  words: RegExp;
  /** A real reply, without codes (names changed). */
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

/**
 * Returns the part before the domain of the id that a relay gave a mail; null if its 250 names no
 * id.
 */
export function furtherIdIn(text: string): string | null {
  for (const { words } of idRules) {
    const id = words.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  return null;
}
