// The envelope of a received mail, without a listener.
import type { ReceivedEnvelope } from '../../src/inbox/receiving/receive.ts';

/**
 * Returns the envelope of a mail from `mx.example.com` on this machine. A report has the null
 * sender (`mailFrom` empty).
 */
export function inboundEnvelope(
  addressees: ReceivedEnvelope['addressees'],
  mailFrom = '',
): ReceivedEnvelope {
  return {
    mailFrom,
    addressees,
    remoteAddress: '127.0.0.1',
    helo: 'mx.example.com',
    tls: false,
    protocol: 'ESMTP',
    id: 'test.1',
  };
}
