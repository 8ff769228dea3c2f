// A mail to an address of ours, as a mail program writes it to leave a list.
import type { App } from '../../../src/core/app.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { inboundEnvelope } from '../../support/inbound-envelope.ts';

/** Receives a mail to this address; returns the count of stored messages, or the refusal. */
export async function leaveByMail(app: App, address: string): Promise<string> {
  const addressee = await resolveAddressee(app, address);
  if (addressee.kind === 'refused') return `${addressee.code} ${addressee.enhancedCode}`;
  const envelope = inboundEnvelope([addressee]);
  const result = await receive(app, envelope, Buffer.from('Subject: leave\r\n\r\n\r\n'));
  return result.kind === 'stored' ? `stored ${result.messageIds.length}` : `${result.code}`;
}
