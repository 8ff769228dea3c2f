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
  name: z.string().describe('Name of the record'),
  type: z.string().describe('Type of the record, such as CNAME'),
  value: z.string().describe('Value of the record'),
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
  status: z.enum(statuses).describe('State of the tracking host'),
  label: z.string().describe('Label before the domain'),
  hostname: z.string().describe('Host name of tracked links'),
  region: z.string().describe('Region of the service (`tracking.region`)'),
  sslStatus: z
    .enum(['none', 'pending', 'active', 'expired', 'failed'])
    .describe('State of the certificate of the host'),
  certificate: z
    .object({
      reason: z
        .object({
          code: z.enum(reasonCodes).describe('Kind of the obstacle'),
          message: z.string().describe('Sentence on the obstacle and the remedy'),
        })
        .nullable()
        .meta({ description: 'Obstacle to activation; null if there is none' }),
      expiresAt: z.string().nullable().describe('Expiry of the certificate; null without one'),
      lastCheckedAt: z
        .string()
        .nullable()
        .describe('Time of the last check; null before the first'),
      nextCheckAt: z
        .string()
        .nullable()
        .describe('Time of the next check; null if none is planned'),
    })
    .describe('Certificate of the host, and the checks of it'),
  dnsRecords: z
    .object({
      tracking: dnsRecord.describe('Record that leads the host to this service'),
      dcvDelegation: dnsRecord.meta({
        description: 'Lets this service prove the host by DNS: required with the challenge dns-01',
      }),
    })
    .describe('DNS records to publish'),
  caaBlocked: z.boolean().meta({ description: 'Its CAA records forbid the authority to issue' }),
  verificationErrors: z.array(z.string()).meta({ description: 'Errors of the last check' }),
  teardownScheduledAt: z
    .string()
    .nullable()
    .describe('Time at which links of the host end; null if not disabled'),
});

export const customTrackingOutput = z
  .object({
    enabled: z.boolean().describe('Whether the host is enabled'),
    customTracking: customTracking.nullable().meta({ description: 'Null: never enabled' }),
  })
  .meta({ id: 'CustomTracking', description: 'The tracking host of a sending domain' });

export type EnableTracking = z.input<typeof enableTrackingInput>;
export type TrackingStatus = (typeof statuses)[number];
export type ReasonCode = (typeof reasonCodes)[number];
export type CustomTracking = z.output<typeof customTrackingOutput>;
