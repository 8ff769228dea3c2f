// Shared by the commands on the queue. They see all organizations unless `--org` names an
// organization, show entries and counts alike, and report progress of long work.
// src/outbound/queue/desk/queue.ts has the queue.
import { Args, Flags } from '@oclif/core';
import type { App } from '../../../src/core/app.ts';
import type { QueueCounts } from '../../../src/outbound/deliveries/queue-queries.ts';
import type { QueueEntry } from '../../../src/outbound/queue/desk/queue-schema.ts';
import { BaseCommand, type CommonFlags } from '../command.ts';
import { UsageError } from '../output/failure.ts';
import { type TableChoice, tableText } from '../output/output.ts';
import { startProgress } from '../output/progress.ts';
import { withApp } from '../session.ts';

/** Number of queued deliveries from which a progress bar is shown. */
const worthProgress = 2_000;
const longestWords = 60;

export abstract class QueueCommand extends BaseCommand {
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    org: Flags.string({
      description: 'Only deliveries of this organization, by id or name (default: all)',
      aliases: ['organization'],
      helpValue: 'ORG',
      helpGroup: 'GLOBAL',
    }),
  };
}

/** The flag that selects a part of the queue by domain. */
export const domainFlag = {
  domain: Flags.string({ description: 'Only deliveries to this domain', helpValue: 'DOMAIN' }),
};

/** The flags that select the deliveries to change. */
export const selectionFlags = {
  ...domainFlag,
  'older-than': Flags.string({
    description: 'Only deliveries queued that long ago, or before this instant',
    helpValue: '1h',
  }),
  all: Flags.boolean({ description: 'All deliveries, or all of the --org' }),
  'dry-run': Flags.boolean({ description: 'Print the number of deliveries and change nothing' }),
};

/** `--yes` of `queue drop`, for scripts that pass the flag to `hold` and `retry` as well. */
export const unaskedFlag = {
  yes: Flags.boolean({ description: 'Changes nothing here: this command asks no question' }),
};

/** The argument that names deliveries by id. */
export const idsArg = {
  ids: Args.string({
    description: 'Ids of deliveries (dlv_…), or of messages (msg_…) for all their deliveries',
    multiple: true,
  }),
};

export interface QueueSession {
  app: App;
  /** Organization of `--org`; undefined for all organizations. */
  organizationId: string | undefined;
  flags: CommonFlags;
}

/** Opens the service for a command on the queue, as the operator. */
export function withQueue<T>(
  flags: CommonFlags,
  work: (session: QueueSession) => Promise<T>,
): Promise<T> {
  return withApp(flags, async (app) => {
    if (flags.org === undefined) return work({ app, organizationId: undefined, flags });
    const { organizationIdFrom } = await import('../nouns/organization-id.ts');
    return work({ app, organizationId: await organizationIdFrom(app, flags.org), flags });
  });
}

/**
 * Formats counts: `ready 3  waiting 2  in-lane 0  held 0  claimed 1`. A plus marks a count that
 * reached the limit of counting.
 */
export function countsLine(counts: QueueCounts, countedUpTo = Number.POSITIVE_INFINITY): string {
  return Object.entries(counts)
    .map(
      ([state, count]) => `${state} ${count.toLocaleString('en')}${count < countedUpTo ? '' : '+'}`,
    )
    .join('  ');
}

const entryColumns = [
  'messageId',
  'recipient',
  'state',
  'dueAt',
  'waitReason',
  'attemptCount',
  'lastWords',
];

export const holdColumns = [
  'id',
  'organizationId',
  'domain',
  'messageId',
  'deliveryId',
  'state',
  'held',
  'note',
  'createdAt',
];

/** Renders entries as a table; replies of servers are cut to fit a line. */
export function entriesText(
  entries: readonly QueueEntry[],
  choice: TableChoice = {},
): Promise<string> {
  return tableText(
    choice,
    entries.map((entry) => ({ ...entry, lastWords: shortened(entry.lastWords ?? '') })),
    entryColumns,
  );
}

/** Cuts a text to `most` characters. */
export function shortened(text: string, most = longestWords): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Runs work on the whole queue, with a progress bar from 2,000 queued deliveries. */
export async function walking<T>(
  { app, flags }: QueueSession,
  what: string,
  work: (onProgress: (done: number) => void) => Promise<T>,
): Promise<T> {
  const { countQueueStates } = await import('../../../src/outbound/queue/desk/queue.ts');
  const counts = await countQueueStates(app);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total < worthProgress) return work(() => {});
  const progress = await startProgress(flags, what);
  try {
    return await work((done) => progress.update(done, Math.max(done, total)));
  } finally {
    progress.stop();
  }
}

/** Parsed flags of `selectionFlags`. */
interface SelectionTyped {
  domain?: string | undefined;
  'older-than'?: string | undefined;
  all?: boolean;
  'dry-run'?: boolean;
}

/**
 * Returns the selection of the flags, or null if ids select the deliveries.
 * @throws UsageError unless either ids or flags are given.
 */
export async function selectionFrom(
  { app, organizationId }: QueueSession,
  ids: readonly string[],
  flags: SelectionTyped,
) {
  const { domain, all = false } = flags;
  const { timeFrom } = await import('../input/since.ts');
  const before = timeFrom('--older-than', flags['older-than'], app.clock.now());
  const isPart = domain !== undefined || before !== undefined;
  if (ids.length > 0 && !isPart && !all && !flags['dry-run']) return null;
  if (ids.length > 0 || isPart === all) {
    throw new UsageError('give IDs; or --domain, --older-than or both; or --all');
  }
  const { queueSelection } = await import('../../../src/outbound/queue/desk/queue-schema.ts');
  const { parseWith } = await import('../../../src/core/api/validate.ts');
  const { given } = await import('../input/body.ts');
  const queuedBefore = before === undefined ? undefined : Date.parse(before);
  return parseWith(queueSelection, given({ organizationId, domain, queuedBefore }), 'query');
}

/** `1 delivery`, `3 deliveries`. */
export function deliveriesWord(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

/**
 * Returns the target of `hold` and `release`: an id; or a domain, an organization, or both. @throws
 * UsageError for an id beside them, or without a target
 */
export async function holdTargetFrom(
  { app, organizationId }: QueueSession,
  id: string | undefined,
  domain: string | undefined,
) {
  const isPart = domain !== undefined || organizationId !== undefined;
  if ((id === undefined) !== isPart) {
    throw new UsageError('give an ID, --domain, --org, or the last two together');
  }
  const { holdTarget } = await import('../../../src/outbound/queue/desk/queue-schema.ts');
  const { idsInStore, parseTyped } = await import('../input/whole-id.ts');
  const { given } = await import('../input/body.ts');
  const target = given({ id, domain, organizationId });
  return parseTyped(idsInStore(app, organizationId), holdTarget, target, 'query');
}
