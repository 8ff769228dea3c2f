// The Received field at the beginning of every stored mail (RFC 5321 4.4): client, time and
// protocol. Names given by the client are written only if they are harmless in a header.
import { isIPv6 } from 'node:net';

export interface Handover {
  /** Name of the client in EHLO. */
  helo: string;
  remoteAddress: string;
  /** SMTP, ESMTP, ESMTPS, UTF8SMTP or UTF8SMTPS (RFC 3848, RFC 6531 4.3). */
  protocol: string;
  /** Id of session and transaction, as in the log. */
  id: string;
  /** Our host name. */
  hostname: string;
  /** The recipient; null for several recipients, as no recipient may learn of the rest. */
  forAddress: string | null;
  /** Milliseconds since 1970. */
  receivedAt: number;
}

const harmlessHelo = /^[A-Za-z0-9._:[\]-]{1,255}$/;
const harmlessAddress = /^[!-~]{1,254}$/;

function addressLiteral(address: string): string {
  return isIPv6(address) ? `[IPv6:${address}]` : `[${address}]`;
}

/** Returns the field with CRLF, folded into lines below 300 characters, plain ASCII. */
export function receivedField(handover: Handover): string {
  const { helo, remoteAddress, protocol, id, hostname, forAddress, receivedAt } = handover;
  const name = harmlessHelo.test(helo) ? helo : 'unknown';
  const forClause =
    forAddress !== null && harmlessAddress.test(forAddress) ? `\r\n\tfor <${forAddress}>` : '';
  const date = new Date(receivedAt).toUTCString().replace('GMT', '+0000');
  return (
    `Received: from ${name} (${addressLiteral(remoteAddress)})\r\n` +
    `\tby ${hostname} (svc) with ${protocol}\r\n\tid ${id}${forClause};\r\n\t${date}\r\n`
  );
}
