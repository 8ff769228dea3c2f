// The envelope of a mail that comes in, without a listener.
import type { ReceivedEnvelope } from '../../src/inbound/receive.ts';

/** From `mx.example.com` on this machine; a report comes from nobody (`mailFrom` empty). */
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
