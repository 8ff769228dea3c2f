// Shapes of organizations, in and out (contract 3). They are made, changed and listed at the
// command line only; which plans exist is the configuration's.
import { z } from 'zod';
import { pageQuery } from '../pagination.ts';

const longestName = 100;
const longestNote = 500;

function isTimezone(name: string): boolean {
  // Node also takes offsets such as +02:00, which know no daylight saving.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const plan = z.string().meta({ description: 'A plan of the configuration' });
const timezone = z.string().max(64).refine(isTimezone, 'is not an IANA time zone');

export const createOrganizationInput = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(longestName)
    .regex(/^[^\p{C}]+$/u, 'must be one line of text')
    .regex(/^(?!\s)(?:.*\S)$/u, 'must not begin or end with white space')
    .regex(/^(?!org_)/, 'must not look like an organization id'),
  plan,
  paymentMethodOnFile: z.boolean().default(false),
  timezone: timezone.default('UTC'),
  createdAt: z.iso.datetime({ offset: true, error: 'must be an ISO 8601 instant' }).optional(),
});

export const updateOrganizationInput = z
  .strictObject({
    plan: plan.optional(),
    paymentMethodOnFile: z.boolean().optional(),
    timezone: timezone.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, 'names nothing to change');

export const pauseOrganizationInput = z.strictObject({
  note: z
    .string()
    .min(1)
    .max(longestNote)
    .regex(/^[^\p{C}]+$/u, 'must be one line of text')
    .optional()
    .meta({ description: 'Why; every refused send says it' }),
});

export const listOrganizationsQuery = z.strictObject(pageQuery);

export const organizationOutput = z
  .object({
    id: z.string(),
    name: z.string(),
    plan: z.string(),
    paymentMethodOnFile: z.boolean(),
    timezone: z.string().meta({ description: 'IANA name; days of statistics turn there' }),
    sendingStatus: z.enum(['enabled', 'paused']),
    pausedAt: z.string().nullable(),
    pauseReason: z.string().nullable(),
    onboarding: z.object({
      status: z.enum(['approved', 'pending', 'rejected']),
      generation: z.number(),
    }),
    createdAt: z.string(),
  })
  .meta({ id: 'Organization', description: 'A workspace: whatever else there is belongs to one' });

export type UpdateOrganization = z.input<typeof updateOrganizationInput>;
export type PauseOrganization = z.input<typeof pauseOrganizationInput>;
export type CreateOrganization = z.input<typeof createOrganizationInput>;
export type Organization = z.output<typeof organizationOutput>;
