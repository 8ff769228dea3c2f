// Shapes of custom tracking, in and out (specification 2.12), and the syntax of a label.
import { z } from 'zod';

/** RFC 1035 2.3.1. `--` in the third place is reserved for A-labels (RFC 5891 4.2.3.1). */
const labelPattern = /^(?!..--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const labelExpected = 'must be one DNS label, such as links: letters, digits and hyphens within';

export const enableTrackingInput = z
  .strictObject({
    label: z
      .string()
      .max(63, labelExpected)
      .transform((text) => text.toLowerCase())
      .refine((text) => labelPattern.test(text) || /^xn--[a-z0-9-]{0,58}[a-z0-9]$/.test(text), {
        error: labelExpected,
      })
      .meta({ description: 'Label before the domain: `links` gives links.example.com' }),
  })
  .meta({ examples: [{ label: 'links' }] });

const dnsRecord = z.object({
  name: z.string(),
  type: z.string(),
  value: z.string(),
  required: z.boolean().meta({ description: 'Set by the configuration of the service' }),
});

export const statuses = [
  'pending',
  'verifying',
  'issuing',
  'active',
  'failed',
  'disabled',
  'tearing-down',
] as const;

export const reasonCodes = [
  'initializing',
  'dns-missing',
  'caa-forbids',
  'challenge-failed',
  'rate-limited',
  'expired',
  'certificate-mismatch',
] as const;

const customTracking = z.object({
  status: z.enum(statuses),
  label: z.string(),
  hostname: z.string(),
  region: z.string(),
  sslStatus: z.enum(['none', 'pending', 'active', 'expired', 'failed']),
  certificate: z.object({
    reason: z
      .object({ code: z.enum(reasonCodes), message: z.string() })
      .nullable()
      .meta({ description: 'Obstacle to activation; null if there is none' }),
    expiresAt: z.string().nullable(),
    lastCheckedAt: z.string().nullable(),
    nextCheckAt: z.string().nullable(),
  }),
  dnsRecords: z.object({
    tracking: dnsRecord,
    dcvDelegation: dnsRecord.meta({
      description: 'Lets this service prove the host by DNS: required with the challenge dns-01',
    }),
  }),
  caaBlocked: z.boolean().meta({ description: 'Its CAA records forbid the authority to issue' }),
  verificationErrors: z.array(z.string()).meta({ description: 'Errors of the last check' }),
  teardownScheduledAt: z.string().nullable(),
});

export const customTrackingOutput = z
  .object({
    enabled: z.boolean(),
    customTracking: customTracking.nullable().meta({ description: 'Null: never enabled' }),
  })
  .meta({ id: 'CustomTracking', description: 'The tracking host of a sending domain' });

export type EnableTracking = z.input<typeof enableTrackingInput>;
export type TrackingStatus = (typeof statuses)[number];
export type ReasonCode = (typeof reasonCodes)[number];
export type CustomTracking = z.output<typeof customTrackingOutput>;
