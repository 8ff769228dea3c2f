// Input and output shapes of organizations. Only the command line creates, changes and lists them;
// the configuration defines plans.
import { z } from 'zod';
import { pageQuery } from '../../core/api/pagination.ts';
import { instant } from '../../core/api/resource-schema.ts';
import { isTimezone } from '../../platform/runtime/calendar.ts';

const longestName = 100;
const longestNote = 500;
const mostMetadataKeys = 5;

const plan = z
  .string('must name a plan: free, starter, growth, scale, self-hosted or one of the configuration')
  .meta({ description: 'A plan of the configuration' });
const name = z
  .string(`must be a name of 1 to ${longestName} characters`)
  .min(1)
  .max(longestName)
  .regex(/^[^\p{C}]+$/u, 'must be one line of text')
  .regex(/^(?!\s)(?:.*\S)$/u, 'must not begin or end with white space')
  .regex(/^(?!org_)/, 'must not look like an organization id');
const note = z
  .string()
  .min(1)
  .max(longestNote)
  .regex(/^[^\p{C}]+$/u, 'must be one line of text')
  .optional();
const days = z
  .int()
  .min(1)
  .max(36_500)
  .nullable()
  .optional()
  .meta({ description: 'Age in days; null leaves it to `retention` of the configuration' });
const generation = z
  .int()
  .min(1)
  .meta({ description: 'Generation of the application; any other generation is a conflict' });
/** Keys of the metadata of messages; a term of the index ends the key with "=". */
const metadataKeys = z
  .array(
    z
      .string()
      .min(1)
      .max(100)
      .regex(/^[^=\p{C}]+$/u, 'must be one line without ='),
  )
  .max(mostMetadataKeys)
  .refine((keys) => new Set(keys).size === keys.length, 'names a key twice')
  .meta({ description: 'Keys of the metadata of messages that are searched by index, at most 5' });
const timezone = z.string().max(64).refine(isTimezone, 'is not an IANA time zone');

export const createOrganizationInput = z.strictObject({
  name,
  plan,
  paymentMethodOnFile: z.boolean().default(false),
  timezone: timezone.default('UTC'),
  createdAt: instant.optional(),
  onboarding: z.enum(['approved', 'pending']).default('approved'),
});

const signIn = z.enum(['any', 'strong'], 'must be any or strong');

export const updateOrganizationInput = z
  .strictObject({
    name: name.optional(),
    plan: plan.optional(),
    paymentMethodOnFile: z.boolean().optional(),
    timezone: timezone.optional(),
    trackOpens: z.boolean().optional(),
    trackClicks: z.boolean().optional(),
    messagesDays: days,
    contentDays: days,
    metadataKeys: metadataKeys.optional(),
    signIn: signIn.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, 'names no change');

/** The field that owners change too, by a session with a passkey or single sign-on. */
export const signInInput = z.strictObject({ signIn });

export const pauseOrganizationInput = z.strictObject({
  note: note.meta({ description: 'Reason, shown in each refusal of a send' }),
});

export const resumeOrganizationInput = z.strictObject({
  note: note.meta({ description: 'Findings of the review' }),
});

export const reviewOnboardingInput = z.strictObject({
  verdict: z.enum(['approved', 'rejected']),
  expectedGeneration: generation.optional(),
  note: note.meta({ description: 'Reason, shown in the audit of the organization' }),
});

export const reapplyOnboardingInput = z
  .strictObject({
    expectedGeneration: generation,
    note: note.meta({ description: 'Note for the reviewer' }),
  })
  .meta({ examples: [{ expectedGeneration: 1, note: 'The list is of our own customers' }] });

export const listOrganizationsQuery = z.strictObject(pageQuery);

export const organizationOutput = z
  .object({
    id: z.string().describe('Id of the organization'),
    name: z.string().describe('Name of the organization'),
    plan: z.string().describe('Name of the plan'),
    paymentMethodOnFile: z.boolean().describe('Whether a payment method is on file'),
    timezone: z
      .string()
      .meta({ description: 'Time zone of the days of statistics, by its IANA name' }),
    sendingStatus: z.enum(['enabled', 'paused']).describe('paused: every send is refused with 403'),
    pausedAt: z.string().nullable().describe('Time of the pause; null without one'),
    pauseReason: z.string().nullable().describe('Reason of the pause; null without one'),
    onboarding: z
      .object({
        status: z.enum(['approved', 'pending', 'rejected']).meta({
          description:
            'Unless it is approved, mail goes only to its own mailboxes and the simulator',
        }),
        generation: z.number().meta({ description: 'Number of the application, from 1' }),
      })
      .describe('Review of the organization'),
    tracking: z
      .object({
        opens: z.boolean().describe('Whether opens are recorded'),
        clicks: z.boolean().describe('Whether clicks are recorded'),
      })
      .meta({ description: 'Tracking of messages that do not say otherwise' }),
    retention: z
      .object({
        messagesDays: z
          .number()
          .nullable()
          .describe('Days until messages are deleted; null: as configured'),
        contentDays: z
          .number()
          .nullable()
          .describe('Days until their content is deleted; null: as configured'),
      })
      .meta({
        description:
          'Ages in days at which messages, and their content, are deleted; the shorter of this and ' +
          'the configuration counts. Null: the configuration alone',
      }),
    metadataKeys: z
      .array(z.string())
      .describe('Keys of the metadata of messages that are searched by index'),
    signIn: signIn.meta({
      description: 'strong: a passkey or single sign-on opens the console, any: every sign-in',
    }),
    createdAt: z.string().describe('Time of creation'),
  })
  .meta({ id: 'Organization', description: 'A workspace: every other resource belongs to one' });

export type UpdateOrganization = z.input<typeof updateOrganizationInput>;
export type PauseOrganization = z.input<typeof pauseOrganizationInput>;
export type ResumeOrganization = z.input<typeof resumeOrganizationInput>;
export type ReviewOnboarding = z.input<typeof reviewOnboardingInput>;
export type ReapplyOnboarding = z.input<typeof reapplyOnboardingInput>;
export type CreateOrganization = z.input<typeof createOrganizationInput>;
export type Organization = z.output<typeof organizationOutput>;
