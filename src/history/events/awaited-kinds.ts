// Kinds of events of areas that are not built yet, so that callers can subscribe today. Each kind
// moves to the `events.ts` of its area when that is built, with the schema of its resource. Until
// then its schema has only the fields that the specification promises.
import { z } from 'zod';
import { eventKind } from './kinds.ts';
import type { EventType } from './names.ts';

const created = '2026-01-05T12:00:00.000Z';
const suffix = '06dq2k0qz8h3v5m1r9t4w7xy';
const times = { createdAt: z.string(), updatedAt: z.string() };
const timesSample = { createdAt: created, updatedAt: created };

/** Declares kinds of events on the same resource. */
function kindsOf<Schema extends z.ZodType>(
  schema: Schema,
  sample: z.input<Schema>,
  summaries: Readonly<Partial<Record<EventType, string>>>,
) {
  return Object.entries(summaries).map(([type, summary]) =>
    eventKind({ type: type as EventType, summary, schema, sample }),
  );
}

const campaignRuns = kindsOf(
  z
    .looseObject({
      id: z.string(),
      campaignId: z.string(),
      status: z.string(),
      totalRecipients: z.number().nullable(),
      dispatchedCount: z.number(),
      failedCount: z.number(),
      skippedCount: z.number(),
      failureReason: z.string().nullable(),
      holdReason: z.string().nullable(),
      ...times,
    })
    .meta({ id: 'CampaignRunTold', description: 'A run of a campaign' }),
  {
    id: `run_${suffix}`,
    campaignId: `camp_${suffix}`,
    status: 'running',
    totalRecipients: 1000,
    dispatchedCount: 0,
    failedCount: 0,
    skippedCount: 0,
    failureReason: null,
    holdReason: null,
    ...timesSample,
  },
  {
    'campaign.run.started': 'The mail of the run is being sent',
    'campaign.run.completed': 'All mail of the run is queued',
    'campaign.run.held': 'The run waits for the review of its domain',
    'campaign.run.failed': 'The run was given up',
  },
);

const templates = kindsOf(
  z
    .looseObject({
      id: z.string(),
      name: z.string(),
      slug: z.string(),
      channel: z.string(),
      status: z.string(),
      isActive: z.boolean(),
      ...times,
    })
    .meta({ id: 'TemplateTold', description: 'A template' }),
  {
    id: `tmpl_${suffix}`,
    name: 'Receipt',
    slug: 'receipt',
    channel: 'email',
    status: 'published',
    isActive: true,
    ...timesSample,
  },
  { 'template.published': 'New mail uses this version from now on' },
);

const installations = kindsOf(
  z
    .looseObject({
      id: z.string(),
      extensionId: z.string(),
      name: z.string(),
      version: z.object({ id: z.string(), version: z.string() }),
      runtime: z.string(),
      status: z.string(),
      events: z.array(z.string()),
      permissions: z.array(z.string()),
      createdAt: z.string(),
      updatedAt: z.string(),
      disabledAt: z.string().nullable(),
    })
    .meta({ id: 'InstallationTold', description: 'An installed extension' }),
  {
    id: `exti_${suffix}`,
    extensionId: `ext_${suffix}`,
    name: 'triage',
    version: { id: `exv_${suffix}`, version: '1.0.0' },
    runtime: 'hosted',
    status: 'active',
    events: ['mailbox.message.received'],
    permissions: ['read'],
    ...timesSample,
    disabledAt: null,
  },
  {
    'extension.installation.created': 'The extension was installed',
    'extension.installation.upgraded': 'The extension runs another version',
    'extension.installation.disabled': 'The extension can no longer act',
  },
);

export const awaitedKinds = [...campaignRuns, ...templates, ...installations];
