// Which mail begins in `spam`. Nothing is guessed from words:
//
//   DMARC says      | the author's domain asks for
//   ----------------+----------------------------------------------------
//   fail, permerror | quarantine, or reject where that is not enforced
//   temperror       | reject
//
// and, by the `filters` of the mailbox, mail from whom it blocks, and from all whom it does not allow
// where it allows somebody.
import type { MailboxFilters } from '../mailboxes/schema.ts';
import type { InboundEnvelope } from '../messages/projection.ts';
import { domainOf, foldAddress } from '../net/address.ts';

function failsDmarc({ dmarcVerdict: verdict, dmarcPolicy: policy }: InboundEnvelope): boolean {
  if (verdict === 'temperror') return policy === 'reject';
  const isUnproven = verdict === 'fail' || verdict === 'permerror';
  return isUnproven && (policy === 'quarantine' || policy === 'reject');
}

/** A domain speaks for all below it. */
function isNamed(list: readonly string[], address: string): boolean {
  const domain = domainOf(address);
  return list.some((entry) => {
    const wanted = foldAddress(entry);
    if (wanted.includes('@')) return wanted === address;
    return domain === wanted || domain.endsWith(`.${wanted}`);
  });
}

/** Whether a mail from this address is not wanted in the mailbox. */
export function isSpam(
  envelope: InboundEnvelope | null,
  from: string,
  { allow, block }: MailboxFilters,
): boolean {
  const address = foldAddress(from);
  if (envelope && failsDmarc(envelope)) return true;
  if (isNamed(block, address)) return true;
  return allow.length > 0 && !isNamed(allow, address);
}
