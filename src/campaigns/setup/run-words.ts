// The sentences of `svc campaigns show`: why a run has the present status, until when, and which
// command helps.

import type { Help } from '../../outbound/explain/explain-words.ts';
import { fromNow, timeInWords } from '../../outbound/explain/time-words.ts';
import type { RunWaitReason } from '../../run-ledger/schema.ts';
import type { RunSummary } from './run-schema.ts';

/** Reason of the status as a sentence, and the command that helps, if any. */
export interface RunStanding {
  because: string;
  help: Help | null;
}

interface Words {
  because: string;
  purpose: string;
  command: string;
}

/** Words for each reason to wait. Facts of the run replace `{run}`, `{until}` and similar names. */
const waits: Readonly<Record<RunWaitReason, Words>> = {
  rate: {
    because: 'It sends at the rate of the plan. It continues {until}.',
    purpose: 'To see the plan',
    command: 'svc plan show',
  },
  'daily-quota': {
    because: 'The daily limit of the plan is used up. It continues {until}, or with a higher plan.',
    purpose: 'To see the limit that binds',
    command: 'svc plan show',
  },
  warming: {
    because: 'The open window of the warming plan has no room left. It continues {until}.',
    purpose: 'To see the pace of the campaign',
    command: 'svc campaigns estimate {campaign}',
  },
  queue: {
    because: 'As many of its messages as may be are in the queue. It continues as they leave.',
    purpose: 'To watch the queue',
    command: 'svc queue top',
  },
  audience: {
    because:
      'Its audience takes too long to read: a query of a group has too many or too long conditions.',
    purpose: 'To make the queries simpler, stop it and run the campaign again',
    command: 'svc campaigns cancel {run}',
  },
  capacity: {
    because: 'The workers of the service are busy. It is tried again within seconds.',
    purpose: 'To see the load',
    command: 'svc status',
  },
  error: {
    because: 'The service met an error, which its log has. It is tried again within seconds.',
    purpose: 'To look for the fault',
    command: 'svc doctor',
  },
};

const resume = 'svc campaigns resume {run} --note "…"';

const holds: Readonly<Record<string, Words>> = {
  'workspace-paused': {
    because: 'Sending is paused for its organization. It continues once the pause is lifted.',
    purpose: 'To lift the pause',
    command: 'svc orgs resume {organization}',
  },
  key: {
    because: 'The key that made it is revoked, or may not send this mail.',
    purpose: 'To resume it after a change of the key',
    command: resume,
  },
  sender: {
    because: 'Its sender may not send now. It continues once the sender may.',
    purpose: 'To see the senders',
    command: 'svc senders list',
  },
  'domain-held': {
    because: 'Its domain is held: too much of its mail bounced or was reported.',
    purpose: 'To resume the domain',
    command: 'svc domains resume {domain}',
  },
  'warming-held': {
    because: 'The warming plan of its domain is held. It continues with the plan.',
    purpose: 'To see the plan',
    command: 'svc warming show {domain}',
  },
  'run-health': {
    because: 'Too many of its messages bounced or were reported as spam.',
    purpose: 'To resume it, once the list is cleaned',
    command: resume,
  },
  provider: {
    because: 'A provider put too many of its messages off.',
    purpose: 'To resume it, once the provider takes mail',
    command: resume,
  },
};

function filled({ because, purpose, command }: Words, facts: Record<string, string>): RunStanding {
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (all, name: string) => facts[name] ?? all);
  return { because: fill(because), help: { purpose, command: fill(command) } };
}

/** Returns the reason of the present status as a sentence, and the command that helps. */
export function standingOf(run: RunSummary, now: number): RunStanding {
  const { id, status, scheduledFor, startedAt, holdReason, waitReason, nextDispatchAt } = run;
  const facts = {
    run: id,
    campaign: run.campaignId,
    organization: run.organizationId,
    domain: run.holdDomainId ?? 'DOMAIN',
    until: nextDispatchAt === null ? 'soon' : timeInWords(Date.parse(nextDispatchAt), now),
  };
  const say = (because: string, purpose: string, command: string) =>
    filled({ because, purpose, command }, facts);
  switch (status) {
    case 'scheduled': {
      if (waitReason !== null) return filled(waits[waitReason], facts);
      const at = Date.parse(scheduledFor ?? run.createdAt);
      const when =
        at > now ? `It starts ${timeInWords(at, now)}.` : 'It starts as soon as a daemon runs.';
      return say(when, 'To stop it', 'svc campaigns cancel {run}');
    }
    case 'running': {
      if (waitReason !== null) return filled(waits[waitReason], facts);
      const since = startedAt === null ? '' : `, since ${fromNow(Date.parse(startedAt), now)}`;
      return say(`It is being sent${since}.`, 'To pause it', 'svc campaigns pause {run}');
    }
    case 'paused': {
      const because =
        holdReason === 'restored'
          ? 'The store was restored from a backup, which may have been sent already.'
          : 'A person paused it.';
      return say(because, 'To resume it', 'svc campaigns resume {run}');
    }
    case 'held': {
      const other = { because: 'The service holds it.', purpose: 'To resume it', command: resume };
      const standing = filled(holds[holdReason ?? ''] ?? other, facts);
      const detail = run.holdDetail === null ? '' : ` (${run.holdDetail})`;
      return { ...standing, because: `${standing.because}${detail}` };
    }
    case 'completed':
      return run.failedCount + run.stats.failed === 0
        ? { because: 'Every contact was checked.', help: null }
        : say(
            'Every contact was checked. Some messages failed.',
            'To try those again',
            'svc campaigns retry {run}',
          );
    case 'failed':
      return say(
        `It could not be sent: ${run.failureReason ?? 'the reason is not known'}`,
        'To run it again',
        'svc campaigns run {campaign}',
      );
    case 'cancelled': {
      const { failureReason } = run;
      const because =
        failureReason === null
          ? 'A person cancelled it.'
          : `The service cancelled it: ${failureReason}`;
      return { because, help: null };
    }
  }
}
