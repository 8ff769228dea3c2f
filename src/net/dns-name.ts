// Domain names as the DNS client takes them: A-labels in text form. Knows nothing of who owns them.

/** Names compare without regard to ASCII case (RFC 4343); the dot at the end says nothing. */
export function foldName(name: string): string {
  return name.replace(/\.$/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** May be asked for: labels of 1 to 63 printable ASCII characters, 253 in all (RFC 1035 2.3.4). */
export function isQueryName(name: string): boolean {
  return name.length <= 253 && /^(?:[!-\-/-~]{1,63}\.)*[!-\-/-~]{1,63}$/.test(name);
}

/** A name that hosts and services have: letters, digits, hyphens and underscores alone. */
export function isHostName(name: string): boolean {
  return isQueryName(name) && /^[a-zA-Z0-9_.-]+$/.test(name);
}
