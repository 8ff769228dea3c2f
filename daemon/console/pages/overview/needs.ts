// The list "Needs you": what only a person can mend, the most pressing first.
import { planRoutes } from '../../../../src/access/admission/routes.ts';
import { domainRoutes } from '../../../../src/identity/domains/routes.ts';
import type { Domain } from '../../../../src/identity/domains/schema.ts';
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import { webhookRoutes } from '../../../../src/webhooks/routes.ts';
import type { Asked } from '../../page.ts';
import type { LatestRun } from '../campaigns/latest-runs.ts';
import type { Reasons } from './reasons.ts';

export interface Need {
  tone: 'info' | 'warn' | 'bad';
  sentence: string;
  more: string;
  path: string;
  /** Label of the button. */
  label: string;
}

/** The sentence on an organization that may not send. */
export const paused = 'Sending is paused.';

const mostLooked = 100;
const mostOfAKind = 3;

const many = (count: number, one: string, several: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : several}`;

async function pause({ ask, may }: Asked): Promise<Need[]> {
  if (!may('organization:read')) return [];
  const { sendingStatus, binds } = await ask(planRoutes.show);
  if (sendingStatus !== 'paused') return [];
  return [{ tone: 'bad', sentence: paused, more: binds, path: '/organization', label: 'See' }];
}

async function proposals({ ask, may }: Asked, when: (at: string) => string): Promise<Need[]> {
  if (!may('mailboxes:read')) return [];
  const query = { state: 'proposed', limit: mostLooked };
  const { items, nextCursor } = await ask(mailboxActionRoutes.listAll, { query });
  const oldest = items.at(-1);
  if (!oldest) return [];
  const isMore = nextCursor !== null;
  const wait = items.length === 1 ? 'waits' : 'wait';
  const sentence = isMore
    ? `More than ${mostLooked} answers wait for your approval.`
    : `${many(items.length, 'answer', 'answers')} ${wait} for your approval.`;
  const more = isMore ? '' : `The oldest since ${when(oldest.createdAt)}.`;
  return [{ tone: 'info', sentence, more, path: '/review', label: 'Review' }];
}

type LookedDomain = Pick<
  Domain,
  'id' | 'domain' | 'status' | 'dnsRecords' | 'heldAt' | 'holdReason'
>;

/** Returns the need of a held or unverified domain; null for a verified domain without a hold. */
export function needOf(one: LookedDomain): Need | null {
  const path = `/domains/${one.id}`;
  if (one.heldAt !== null) {
    const more = one.holdReason ?? 'Too much of its mail bounced or was reported.';
    return { tone: 'bad', sentence: `Mail from ${one.domain} is held.`, more, path, label: 'See' };
  }
  if (one.status === 'verified') return null;
  const asked = one.dnsRecords.filter(({ required }) => required);
  const wrong = asked.filter(({ status }) => status !== 'valid').length;
  return {
    tone: 'warn',
    sentence: `${one.domain} cannot send yet.`,
    more: `${wrong} of ${many(asked.length, 'DNS record is', 'DNS records are')} missing or wrong.`,
    path,
    label: 'Fix',
  };
}

async function domains({ ask, may }: Asked): Promise<Need[]> {
  if (!may('domains:read')) return [];
  const { items } = await ask(domainRoutes.list, { query: { limit: mostLooked } });
  return items.flatMap((one) => needOf(one) ?? []).slice(0, mostOfAKind);
}

async function webhooks({ ask, may }: Asked): Promise<Need[]> {
  if (!may('webhooks:read')) return [];
  const { items } = await ask(webhookRoutes.list, { query: { limit: mostLooked } });
  return items
    .filter(({ status }) => status !== 'active')
    .slice(0, mostOfAKind)
    .map(({ id, name }) => ({
      tone: 'warn',
      sentence: `The webhook “${name}” gets no events.`,
      more: 'It is turned off.',
      path: `/webhooks/${id}`,
      label: 'See',
    }));
}

/** Fewest missing addresses of a domain for which the page names the domain. */
const fewest = 5;

/** Returns a need for the domain with the most missing addresses; empty below 5 addresses. */
export function missingAddresses({ items }: Pick<Reasons, 'items'>): Need[] {
  const [worst] = items.find(({ code }) => code === 'invalid-recipient')?.domains ?? [];
  if (!worst || worst.count < fewest) return [];
  return [
    {
      tone: 'bad',
      sentence: `${worst.count} addresses of ${worst.domain} do not exist.`,
      more: 'They are blocked now: later mail leaves them out.',
      path: '/messages?status=bounced',
      label: 'See',
    },
  ];
}

/** Returns a need for each run that is held or paused. */
export function stoppedRuns(
  runs: readonly LatestRun[],
  because: (run: LatestRun) => string,
): Need[] {
  return runs
    .filter(({ run }) => run?.status === 'held' || run?.status === 'paused')
    .map((one) => ({
      tone: 'bad',
      sentence: `The campaign “${one.campaign.name}” is stopped.`,
      more: because(one),
      path: `/campaigns/${one.campaign.id}/runs/${one.run?.id}`,
      label: 'See',
    }));
}

/**
 * Reads the needs of plan, proposals, domains and webhooks. Needs of runs and messages are
 * separate.
 */
export async function needsOf(asked: Asked, when: (at: string) => string): Promise<Need[]> {
  const found = await Promise.all([
    pause(asked),
    proposals(asked, when),
    domains(asked),
    webhooks(asked),
  ]);
  return found.flat();
}
