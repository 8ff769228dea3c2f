// `svc campaigns run`: now, later, or followed to the end.
import { Flags } from '@oclif/core';
import type { Run } from '../../src/campaigns/setup/run-schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import { wordOfNoDaemon } from '../base/daemon-word.ts';
import { given } from '../base/input/body.ts';
import { timeoutFlag, timeoutFrom } from '../base/input/timeout.ts';
import { readUntil } from '../base/keep-alive.ts';
import { campaignArg } from '../base/nouns/campaign.ts';
import { runText } from '../base/nouns/run-view.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { print, writeInterrupted, writeLine, writeWarning } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';
import { beforeInterrupt } from '../base/signals.ts';

/** Statuses in which the run needs a person, or has ended. */
const standing: readonly string[] = ['paused', 'held', 'completed', 'failed', 'cancelled'];

export default class CampaignsRun extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Send a campaign to its audience, now or later';

  static override description =
    'The daemon makes the messages, each contact one at most, at the pace of plan, quota and ' +
    'warming. With --wait the command follows the run and prints a line for each step: exit code ' +
    '0 once every contact was checked, 8 if the run stops before or the time runs out.';

  static override examples = [
    { description: 'Run the newest campaign', command: 'svc campaigns run @last --wait' },
    {
      description: 'Run it tomorrow at nine, by the clock of this machine',
      command: 'svc campaigns run @last --at "$(date -d "tomorrow 9:00" -Iseconds)"',
    },
    {
      description: 'Run it once, however often a script repeats this',
      command: 'svc campaigns run @last --idempotency-key newsletter-2026-01',
    },
  ];

  static override args = campaignArg;

  static override flags = {
    at: Flags.string({
      description: 'Start at this time: ISO 8601 with an offset, within a year',
      helpValue: 'TIME',
      exclusive: ['wait'],
    }),
    'idempotency-key': Flags.string({
      description: 'Idempotency key: a repeat with it returns the first run',
    }),
    'only-new': Flags.boolean({ description: 'Leave out contacts of earlier runs' }),
    wait: Flags.boolean({ description: 'Follow the run until every contact was checked' }),
    timeout: timeoutFlag('0'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(CampaignsRun);
    const timeoutMs = timeoutFrom(flags.timeout ?? '0');
    const body = given({
      scheduledFor: flags.at,
      idempotencyKey: flags['idempotency-key'],
      onlyNew: flags['only-new'],
    });
    await withSession(flags, async (session) => {
      const { create } = (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes;
      const made = await session.ask(create, { params: { id: args.id }, body });
      if (flags.wait) await follow(session, made, flags, timeoutMs);
      else {
        const word = (await wordOfNoDaemon(session, 'The run')) ?? '';
        await print(flags, made, async () =>
          [await runText(made, session.now()), word].filter(Boolean).join('\n\n'),
        );
      }
    });
  }
}

/** Describes a run in a single line. */
function lineOf({ status, waitReason, holdReason, ...run }: Run): string {
  const judged = run.dispatchedCount + run.failedCount + run.skippedCount;
  const reason = waitReason ?? holdReason;
  const state = reason === null ? status : `${status} (${reason})`;
  const counts = [
    `${judged} of ${Math.max(judged, run.totalRecipients)} judged`,
    `${run.dispatchedCount} dispatched`,
    `${run.failedCount} failed`,
    `${run.skippedCount} skipped`,
  ];
  return `${state}: ${counts.join(', ')}`;
}

async function follow(
  session: Session,
  { id: runId, campaignId: id }: Run,
  flags: CommonFlags,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { get } = (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes;
  const startedAt = session.now();
  const word = await wordOfNoDaemon(session, 'The run');
  if (word) writeWarning(word);
  let last = '';
  const words = () =>
    `interrupted: ${runId} continues without this command. Follow it: svc campaigns show ${runId}`;
  const forget = beforeInterrupt(() => writeInterrupted(flags, words(), { runId }));
  const isEnough = ({ status }: Run) => standing.includes(status);
  const run = await readUntil(session, { timeoutMs, isEnough }, async () => {
    const found = await session.ask(get, { params: { id, runId } });
    const line = lineOf(found);
    if (!flags.json && line !== last) {
      const seconds = ((session.now() - startedAt) / 1000).toFixed(1).padStart(6);
      writeLine(`${seconds} s  ${line}`);
    }
    last = line;
    return found;
  }).finally(forget);
  if (!flags.json) writeLine('');
  await print(flags, run, () => runText(run, session.now()));
  if (run.status === 'completed') return;
  const why = run.failureReason ?? run.holdReason;
  const state = isEnough(run) ? `is ${run.status}` : `is still ${run.status}`;
  throw new ExpectationError(`${runId} ${state}${why === null ? '' : `: ${why}`}`);
}
