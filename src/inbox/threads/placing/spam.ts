// Decides which mail begins in `spam`. The words of a mail do not matter:
//
// DMARC says      | the author's domain asks for
// ----------------+----------------------------------------------------
// fail, permerror | quarantine, or reject where that is not enforced
// temperror       | reject
//
// A trusted sealer that saw DMARC pass (receiving/trusted-sealer.ts) overrides `fail` and
// `temperror`. The `filters` of the mailbox add mail from blocked senders and, if there is an allow
// list, mail from all other senders.
import type { MailboxFilters } from '../../../identity/mailboxes/schema.ts';
import type { InboundEnvelope } from '../../../outbound/messages/contents/projection.ts';
import { domainOf, foldAddress } from '../../../platform/net/address.ts';

function failsDmarc(envelope: InboundEnvelope): boolean {
  const { dmarcVerdict: verdict, dmarcPolicy: policy, trustedSealer } = envelope;
  if (trustedSealer !== undefined) return false;
  if (verdict === 'temperror') return policy === 'reject';
  const isUnproven = verdict === 'fail' || verdict === 'permerror';
  return isUnproven && (policy === 'quarantine' || policy === 'reject');
}

/** Matches an address against a list of addresses and domains. A domain includes all subdomains. */
function isNamed(list: readonly string[], address: string): boolean {
  const domain = domainOf(address);
  return list.some((entry) => {
    const wanted = foldAddress(entry);
    if (wanted.includes('@')) return wanted === address;
    return domain === wanted || domain.endsWith(`.${wanted}`);
  });
}

/** Returns whether mail from this address belongs into `spam` of the mailbox. */
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
