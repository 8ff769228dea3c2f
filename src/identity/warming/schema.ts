// Input and output shapes of the warming of a domain (specification 2.11, 4.7, 8.3).
import { z } from 'zod';

const mostRecipients = 1_000_000;
const mostGrowthPercent = 10_000;
const longestNote = 500;

const recipients = z.int().min(1).max(mostRecipients);

export const startWarmingInput = z
  .strictObject({
    identity: z.enum(['new', 'migrating', 'returning']).meta({
      description: 'History of the domain at receivers; recorded, it changes no number',
    }),
    initialDailyRecipients: recipients.meta({ description: 'Allowance of the first window' }),
    dailyGrowthPercent: z.int().min(0).max(mostGrowthPercent).meta({
      description: 'Growth after a safe window, in percent',
    }),
    targetDailyRecipients: recipients.meta({
      description: 'Allowance of the window that completes the plan if it is safe',
    }),
    direct: z
      .enum(['count', 'defer'])
      .default('count')
      .meta({
        description:
          'Direct sends above the allowance of the open window: `count` lets them go, `defer` ' +
          'lets them wait for a later window',
      }),
  })
  .meta({
    examples: [
      {
        identity: 'new',
        initialDailyRecipients: 200,
        dailyGrowthPercent: 30,
        targetDailyRecipients: 10_000,
      },
    ],
  });

const note = z
  .string()
  .min(1)
  .max(longestNote)
  .regex(/^[^\p{C}]+$/u, 'must be one line of text')
  .meta({ description: 'Reason, shown in the decision' });

export const decideInput = z
  .strictObject({ note: note.optional() })
  .meta({ examples: [{ note: 'Complaints about one list: looking into it' }] });

export const resumeWarmingInput = z
  .strictObject({
    note: note.optional().meta({
      description: 'Findings of the review, shown in the decision; a held plan needs them',
    }),
  })
  .meta({ examples: [{ note: 'The list has been cleaned' }] });

const time = z.string().nullable();

const domain = z.object({
  id: z.string().describe('Id of the domain'),
  domain: z.string().describe('Domain name in A-labels'),
});

const plan = z
  .object({
    id: z.string().describe('Id of the plan'),
    status: z
      .enum(['active', 'paused', 'held', 'completed', 'cancelled'])
      .describe('State of the plan'),
    identity: startWarmingInput.shape.identity,
    initialDailyRecipients: z.number().describe('Recipients of the first window of 24 hours'),
    dailyGrowthPercent: z.number().describe('Growth from window to window, in percent'),
    targetDailyRecipients: z
      .number()
      .describe('Recipients of a window at which the plan is completed'),
    direct: startWarmingInput.shape.direct
      .unwrap()
      .describe(
        'count: direct sends above the allowance leave at once; defer: they wait for a later window',
      ),
    holdReason: z.string().nullable().describe('Reason of the hold; null without one'),
    heldAt: time.describe('Time of the hold; null without one'),
    pausedAt: time.describe('Time of the pause; null without one'),
    completedAt: time.describe('Time of completion; null before'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'WarmingPlan', description: "Growth of a domain's volume" });

const batch = z
  .object({
    id: z.string().describe('Id of the window'),
    sequence: z.number().describe('Number of the window, from 1'),
    state: z.enum(['scheduled', 'open', 'closed', 'cancelled']).describe('State of the window'),
    startsAt: z.string().describe('Beginning of the window'),
    endsAt: z.string().describe('End of the window'),
    allowanceRecipients: z.number().meta({ description: 'Volume that campaigns may reserve' }),
    dailyGrowthPercent: z.number().describe('Growth of the plan in percent, as of the window'),
    targetDailyRecipients: z.number().describe('Target of the plan, as of the window'),
    reservedRecipients: z.number().meta({ description: 'Reserved by campaigns' }),
    acceptedRecipients: z
      .number()
      .meta({ description: 'All sends from the domain, direct ones too' }),
    cancelledAt: time.describe('Time of cancellation; null if it was not cancelled'),
    createdAt: z.string().describe('Time of creation'),
  })
  .meta({ id: 'WarmingWindow', description: 'A window of 24 hours' });

const decision = z
  .object({
    id: z.string().describe('Id of the decision'),
    kind: z
      .enum([
        'plan-created',
        'window-opened',
        'window-closed',
        'held',
        'paused',
        'resumed',
        'completed',
        'cancelled',
      ])
      .describe('Kind of the decision'),
    batchId: z.string().nullable().describe('Window that it concerns; null without one'),
    actor: z.string().meta({
      description: 'Id of the key; `svc` for the operator, `system` for the service itself',
    }),
    note: z.string().nullable().describe('Reason as it was given; null without one'),
    createdAt: z.string().describe('Time of the decision'),
  })
  .meta({ id: 'WarmingDecision', description: 'A decision on a plan, with its actor' });

const tally = z.object({
  sent: z.number().describe('Emails that were attempted'),
  bounced: z.number().describe('Emails that bounced'),
  complained: z.number().describe('Emails that were reported as spam'),
});

const evidence = z
  .object({
    observedAt: z.string().describe('Time of the count'),
    windowHours: z.number().describe('Length of the counted period in hours'),
    minimumSends: z.number().meta({ description: 'Minimum of sends for a verdict' }),
    ...tally.shape,
    hourly: z.array(tally).meta({ description: 'The oldest first, the running hour last' }),
    bounceThreshold: z.number().describe('Bounce rate that holds the plan, from 0 to 1'),
    complaintThreshold: z.number().describe('Complaint rate that holds the plan, from 0 to 1'),
    verdict: z.enum(['healthy', 'insufficient-evidence', 'unhealthy']).meta({
      description: 'Every window is safe unless it is unhealthy',
    }),
    thresholdReason: z.string().nullable().describe('Threshold that was passed; null without one'),
  })
  .meta({ id: 'WarmingEvidence', description: 'Results of the mail of the domain' });

const holds = z.object({
  workspacePausedAt: time.describe('Time at which the organization was paused; null if it is not'),
  workspacePauseReason: z.string().nullable().describe('Reason of the pause; null without one'),
  sendingStatus: z.enum(['enabled', 'held', 'paused']).meta({
    description: 'held: the domain waits for a review; paused: the whole organization does',
  }),
});

export const warmingOutput = z
  .object({
    domain: domain.describe('Domain of the plan'),
    plan: plan.describe('Newest plan of the domain'),
    batches: z.array(batch).meta({ description: 'The last 100, the newest last' }),
    decisions: z.array(decision).meta({ description: 'The last 200, the newest last' }),
    evidence: evidence.describe('Results of the mail of the domain'),
    holds: holds.describe('Holds beside the plan'),
  })
  .meta({ id: 'Warming', description: 'The newest plan of a domain, and its results' });

export const warmingRecordOutput = plan
  .extend({ domain: domain.describe('Domain of the plan') })
  .meta({ id: 'WarmingRecord', description: 'A plan and its domain' });

export type StartWarming = z.input<typeof startWarmingInput>;
export type DecideWarming = z.output<typeof decideInput>;
export type Warming = z.output<typeof warmingOutput>;
export type WarmingPlan = z.output<typeof plan>;
export type WarmingRecord = z.output<typeof warmingRecordOutput>;
export type PlanStatus = WarmingPlan['status'];
export type BatchState = z.output<typeof batch>['state'];
export type DecisionKind = z.output<typeof decision>['kind'];
