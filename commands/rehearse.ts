// `svc rehearse`. The days are played by daemon/rehearsal.ts, on a copy in a separate directory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Flags } from '@oclif/core';
import type { Caller } from '../src/core/api/route.ts';
import type { App } from '../src/core/app.ts';
import type { LoadedConfig } from '../src/core/config/config.ts';
import { messageOf, UnreachableError } from '../src/platform/errors.ts';
import type { Rehearsal, RehearsedDay, Scenario } from '../src/service/rehearsal/schema.ts';
import { BaseCommand, type CommonFlags } from './base/command.ts';
import { timeAhead } from './base/input/since.ts';
import { UsageError } from './base/output/failure.ts';
import { print } from './base/output/output.ts';
import { startProgress } from './base/output/progress.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { inContext } from './base/store-place.ts';

const longestBar = 24;
const mostShown = 20;

export default class Rehearse extends BaseCommand {
  static override summary = 'Play the days ahead on a copy of the store, and send nothing';

  static override description =
    'Copies the store, plays queue, campaigns, warming and quotas by a clock of its own, and prints who would get ' +
    'what when, and what holds mail back on each day. It opens no connection and leaves the store alone. Mail that ' +
    'others would send meanwhile is not known. --json prints the fate of each recipient.';

  static override examples = [
    { description: 'Look 30 days ahead', command: 'svc rehearse' },
    {
      description: 'Look at a campaign before you run it',
      command: 'svc rehearse --campaign @last --days 7',
    },
    {
      description: 'Look how a larger plan would do',
      command: 'svc rehearse --campaign @last --plan growth --json',
    },
  ];

  static override flags = {
    days: Flags.integer({ description: 'Days to play', default: 30, min: 1, max: 366 }),
    campaign: Flags.string({
      description: 'Campaign to run at the begin: its id, or @last for the newest',
      helpValue: 'ID',
    }),
    at: Flags.string({
      description: 'Begin (default: now); earlier days are played, and not shown',
      helpValue: 'TIME',
    }),
    plan: Flags.string({ description: 'Plan of the organization of --org in the copy' }),
    scenario: Flags.string({
      description: 'Rates of bounces and complaints by domain (YAML)',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Rehearse);
    const loaded = await readStoreConfig(flags);
    const { readScenario } = await import('../src/service/rehearsal/scenario.ts');
    const scenario = flags.scenario === undefined ? {} : readScenario(flags.scenario);
    const directory = makeDirectory();
    try {
      await copyStore(loaded, directory, flags).catch((error: unknown) => {
        throw error instanceof UnreachableError ? error : noRoom(error);
      });
      const rehearsal = await play(loaded, directory, { ...flags, scenario });
      await print(flags, rehearsal, () => rehearsalText(rehearsal));
    } catch (error) {
      throw asUnreachable(await inContext(error, loaded));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}

/** Makes a directory for the copy. @throws UnreachableError */
function makeDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'svc-rehearsal-'));
  } catch (error) {
    throw noRoom(error);
  }
}

function noRoom(error: unknown): UnreachableError {
  return new UnreachableError(
    `The store cannot be copied to ${tmpdir()}: ${messageOf(error)}. It needs room for a second store: choose ` +
      'another place by TMPDIR',
    { cause: error },
  );
}

/** Copies the store. @throws NoStoreError without a store */
async function copyStore(
  { config }: LoadedConfig,
  directory: string,
  flags: CommonFlags,
): Promise<void> {
  const { requireStore, storeLocation } = await import('../src/platform/store/open.ts');
  const { dataDir, database } = config;
  const location = storeLocation(database.url, dataDir);
  await requireStore(database, dataDir);
  const progress = await startProgress(flags, 'copied');
  const onProgress = progress.update;
  try {
    if (location.kind === 'sqlite') {
      const { saveBackup } = await import('../src/platform/upkeep/backup.ts');
      await saveBackup(location, join(directory, 'svc.db'), { overwrite: false, onProgress });
    } else {
      const { copyPostgres } = await import('../src/platform/upkeep/copying/from-postgres.ts');
      const { systemClock: clock } = await import('../src/platform/runtime/clock.ts');
      await copyPostgres(database, join(directory, 'svc.db'), { clock, rests: true, onProgress });
    }
  } finally {
    progress.stop();
  }
}

interface PlayFlags extends CommonFlags {
  days: number;
  campaign: string | undefined;
  at: string | undefined;
  plan: string | undefined;
  scenario: Scenario;
}

async function play(
  { config }: LoadedConfig,
  dataDir: string,
  flags: PlayFlags,
): Promise<Rehearsal> {
  const [{ openRehearsal }, { createLogger }, { rehearse }, { StandingClock }] = await Promise.all([
    import('../src/service/service.ts'),
    import('../src/platform/runtime/log.ts'),
    import('../daemon/rehearsal.ts'),
    import('../src/platform/runtime/standing-clock.ts'),
  ]);
  const { readClockFile } = await import('../src/service/virtual-clock/clock-file.ts');
  const { isoTime, systemClock } = await import('../src/platform/runtime/clock.ts');
  const now = readClockFile(config.dataDir)?.now ?? systemClock.now();
  const at = timeAhead('--at', flags.at, now);
  if (at !== undefined && Date.parse(at) < now) {
    throw new UsageError(`--at ${at}: time never goes back, and it is ${isoTime(now)}`);
  }
  const clock = new StandingClock(now);
  const { secretFile } = await import('../src/platform/runtime/key-ring.ts');
  const copy = {
    ...config,
    dataDir,
    // Reads the copy with the root keys of the store.
    secret: { ...config.secret, file: secretFile(config.dataDir, config.secret) },
    database: { ...config.database, url: 'sqlite:svc.db' },
    delivery: { ...config.delivery, mode: 'capture' as const, routes: [], allow: [] },
  };
  const refuse = () => {
    throw new Error('a rehearsal opens no connection');
  };
  const log = await createLogger({ level: 'silent', pretty: false });
  const app = await openRehearsal(copy, log, { clock, connect: refuse });
  const progress = await startProgress(flags, 'played');
  try {
    const caller = await callerIn(app, flags);
    return await rehearse(app, caller, {
      clock,
      days: flags.days,
      at: at === undefined ? undefined : Date.parse(at),
      campaignId: await campaignIn(app, caller, flags.campaign),
      scenario: flags.scenario,
      onProgress: progress.update,
    });
  } finally {
    progress.stop();
    await app.close();
  }
}

/**
 * Returns the operator in the organization of --org. Gives that organization the plan of --plan.
 */
async function callerIn(app: App, { org, plan }: PlayFlags): Promise<Caller> {
  const { organizationIdFrom } = await import('./base/nouns/organization-id.ts');
  const { operatorOf } = await import('../src/access/keys/roles.ts');
  const organizationId = await organizationIdFrom(app, org);
  if (plan !== undefined) {
    const { updateOrganization } = await import('../src/access/organizations/organizations.ts');
    await updateOrganization(app, organizationId, { plan });
  }
  return operatorOf(organizationId);
}

async function campaignIn(
  app: App,
  { organizationId }: Caller,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined) return undefined;
  const { runPath } = await import('../src/campaigns/setup/run-schema.ts');
  const { idsInStore, parseTyped } = await import('./base/input/whole-id.ts');
  return parseTyped(idsInStore(app, organizationId), runPath.shape.id, named, 'path');
}

function limitsText({ limits }: RehearsedDay): string {
  return limits
    .map(({ kind, until }) => (until === null ? kind : `${kind} until ${until.slice(0, 16)}`))
    .join(', ');
}

async function rehearsalText({ from, to, days, ledger }: Rehearsal): Promise<string> {
  const { table } = await import('./base/output/format.ts');
  const most = Math.max(1, ...days.map(({ delivered }) => delivered));
  const rows = days.map((day) => ({
    ...day,
    chart: '█'.repeat(Math.ceil((day.delivered / most) * longestBar)),
    limits: limitsText(day),
  }));
  const fields = ['date', 'accepted', 'delivered', 'bounced', 'waiting', 'chart', 'limits'];
  const shown = ledger.slice(0, mostShown);
  const rest = ledger.length - shown.length;
  return [
    `From ${from} to ${to}, if nothing else is sent.`,
    table(rows, fields),
    ...(shown.length === 0 ? ['No mail would be sent.'] : []),
    ...(shown.length > 0
      ? [table(shown, ['at', 'recipient', 'subject', 'outcome', 'reason'])]
      : []),
    ...(rest > 0 ? [`${rest} more: svc rehearse --json`] : []),
  ].join('\n\n');
}
