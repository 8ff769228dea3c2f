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

const domain = z.object({ id: z.string(), domain: z.string() });

const plan = z
  .object({
    id: z.string(),
    status: z.enum(['active', 'paused', 'held', 'completed', 'cancelled']),
    identity: startWarmingInput.shape.identity,
    initialDailyRecipients: z.number(),
    dailyGrowthPercent: z.number(),
    targetDailyRecipients: z.number(),
    direct: startWarmingInput.shape.direct.unwrap(),
    holdReason: z.string().nullable(),
    heldAt: time,
    pausedAt: time,
    completedAt: time,
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'WarmingPlan', description: "Growth of a domain's volume" });

const batch = z
  .object({
    id: z.string(),
    sequence: z.number(),
    state: z.enum(['scheduled', 'open', 'closed', 'cancelled']),
    startsAt: z.string(),
    endsAt: z.string(),
    allowanceRecipients: z.number().meta({ description: 'Volume that campaigns may reserve' }),
    dailyGrowthPercent: z.number(),
    targetDailyRecipients: z.number(),
    reservedRecipients: z.number().meta({ description: 'Reserved by campaigns' }),
    acceptedRecipients: z
      .number()
      .meta({ description: 'All sends from the domain, direct ones too' }),
    cancelledAt: time,
    createdAt: z.string(),
  })
  .meta({ id: 'WarmingWindow', description: 'A window of 24 hours' });

const decision = z
  .object({
    id: z.string(),
    kind: z.enum([
      'plan-created',
      'window-opened',
      'window-closed',
      'held',
      'paused',
      'resumed',
      'completed',
      'cancelled',
    ]),
    batchId: z.string().nullable(),
    actor: z.string().meta({
      description: 'Id of the key; `svc` for the operator, `system` for the service itself',
    }),
    note: z.string().nullable(),
    createdAt: z.string(),
  })
  .meta({ id: 'WarmingDecision', description: 'A decision on a plan, with its actor' });

const tally = z.object({ sent: z.number(), bounced: z.number(), complained: z.number() });

const evidence = z
  .object({
    observedAt: z.string(),
    windowHours: z.number(),
    minimumSends: z.number().meta({ description: 'Minimum of sends for a verdict' }),
    ...tally.shape,
    hourly: z.array(tally).meta({ description: 'The oldest first, the running hour last' }),
    bounceThreshold: z.number(),
    complaintThreshold: z.number(),
    verdict: z.enum(['healthy', 'insufficient-evidence', 'unhealthy']).meta({
      description: 'Every window is safe unless it is unhealthy',
    }),
    thresholdReason: z.string().nullable(),
  })
  .meta({ id: 'WarmingEvidence', description: 'Results of the mail of the domain' });

const holds = z.object({
  workspacePausedAt: time,
  workspacePauseReason: z.string().nullable(),
  sendingStatus: z.enum(['enabled', 'held', 'paused']).meta({
    description: 'held: the domain waits for a review; paused: the whole organization does',
  }),
});

export const warmingOutput = z
  .object({
    domain,
    plan,
    batches: z.array(batch).meta({ description: 'The last 100, the newest last' }),
    decisions: z.array(decision).meta({ description: 'The last 200, the newest last' }),
    evidence,
    holds,
  })
  .meta({ id: 'Warming', description: 'The newest plan of a domain, and its results' });

export const warmingToldOutput = plan
  .extend({ domain })
  .meta({ id: 'WarmingRecord', description: 'A plan and its domain' });

export type StartWarming = z.input<typeof startWarmingInput>;
export type DecideWarming = z.output<typeof decideInput>;
export type Warming = z.output<typeof warmingOutput>;
export type WarmingPlan = z.output<typeof plan>;
export type WarmingRecord = z.output<typeof warmingToldOutput>;
export type PlanStatus = WarmingPlan['status'];
export type BatchState = z.output<typeof batch>['state'];
export type DecisionKind = z.output<typeof decision>['kind'];
