// What a server offers in its EHLO reply (RFC 5321 4.1.1.1), as far as we use it.
import type { SmtpReply } from './reply.ts';

export interface Capabilities {
  pipelining: boolean;
  /** Largest message in octets (RFC 1870); null: SIZE not offered; 0: offered without a limit. */
  size: number | null;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  startTls: boolean;
  /** SASL mechanisms, upper case. */
  auth: readonly string[];
  chunking: boolean;
  dsn: boolean;
  requireTls: boolean;
}

/** Those of a server that only knows HELO. */
export const noCapabilities: Capabilities = {
  pipelining: false,
  size: null,
  eightBitMime: false,
  smtpUtf8: false,
  startTls: false,
  auth: [],
  chunking: false,
  dsn: false,
  requireTls: false,
};

function parseSize(value: string | undefined): number {
  return value !== undefined && /^[0-9]{1,15}$/.test(value) ? Number(value) : 0;
}

/** Reads the reply to EHLO; unknown keywords and broken values are passed over. */
export function parseCapabilities(ehlo: SmtpReply): Capabilities {
  const offered = new Map<string, string[]>();
  for (const line of ehlo.lines.slice(1)) {
    // `AUTH=PLAIN LOGIN` is how servers before RFC 2554 wrote it.
    const [keyword = '', ...values] = line
      .toUpperCase()
      .replace(/^AUTH=/, 'AUTH ')
      .split(/\s+/);
    offered.set(keyword, [...(offered.get(keyword) ?? []), ...values]);
  }
  return {
    pipelining: offered.has('PIPELINING'),
    size: offered.has('SIZE') ? parseSize(offered.get('SIZE')?.[0]) : null,
    eightBitMime: offered.has('8BITMIME'),
    smtpUtf8: offered.has('SMTPUTF8'),
    startTls: offered.has('STARTTLS'),
    auth: offered.get('AUTH') ?? [],
    chunking: offered.has('CHUNKING'),
    dsn: offered.has('DSN'),
    requireTls: offered.has('REQUIRETLS'),
  };
}
