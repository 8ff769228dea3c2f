// Every key of the configuration with its bounds, default and one-line reason. The reasons become
// config.example.yaml, so they address readers of that file. problems.ts has the rules between keys.
import { z } from 'zod';
import { delivery, http, smtpInbound, smtpSubmission } from './sections.ts';
import { tracking } from './tracking.ts';
import {
  choice,
  databaseUrl,
  dnsServer,
  hostName,
  lineOfText,
  listOf,
  mapOfKeys,
  numberFromZero,
  onOff,
  positiveNumber,
  publicUrl,
  rate,
  wholeNumber,
} from './values.ts';

const monthInSeconds = 30 * 24 * 3600;

const database = z.strictObject(
  {
    url: databaseUrl
      .default('sqlite:svc.db')
      .describe('sqlite:FILE (relative to dataDir), or postgres://USER:PASSWORD@HOST/DATABASE'),
  },
  mapOfKeys,
);

const webhooks = z.strictObject(
  {
    allowPrivateAddresses: onOff
      .default(false)
      .describe('Post to endpoints on private, loopback or link-local addresses'),
    timeoutSeconds: positiveNumber(120, 'seconds')
      .default(15)
      .describe('An endpoint that has not answered by then has failed'),
    retry: z
      .strictObject(
        {
          scheduleSeconds: listOf(
            numberFromZero(monthInSeconds, 'seconds'),
            'numbers of seconds',
            1,
          )
            .default([0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400])
            .describe('Wait before each attempt, the first included'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('What happens after a failed attempt'),
    disableAfterDays: positiveNumber(365, 'days')
      .default(5)
      .describe('An endpoint that fails for so long without a success is disabled'),
  },
  mapOfKeys,
);

const health = z.strictObject(
  {
    windowHours: wholeNumber(1, 720).default(24).describe('The rates are taken over so many hours'),
    minimumSends: wholeNumber(1, 1_000_000)
      .default(100)
      .describe('Fewer attempts than this in the window prove nothing'),
    maxBounceRate: rate()
      .default(0.05)
      .describe('Hard bounces at this rate or above pause the organization'),
    maxComplaintRate: rate()
      .default(0.003)
      .describe('Complaints at this rate or above pause the organization'),
  },
  mapOfKeys,
);

const storage = z.strictObject(
  {
    driver: choice(['filesystem', 's3'])
      .default('filesystem')
      .describe('Where attachments and raw messages lie: under dataDir, or in a bucket'),
    s3: z
      .strictObject(
        {
          endpoint: publicUrl.nullable().default(null).describe('Address of the S3 service'),
          region: lineOfText().nullable().default(null).describe('Region of the bucket'),
          bucket: lineOfText().nullable().default(null).describe('Name of the bucket'),
          accessKeyId: lineOfText().nullable().default(null).describe('Access key'),
          secretAccessKey: lineOfText()
            .nullable()
            .default(null)
            .describe('Secret of the access key; better given as SVC_STORAGE_S3_SECRET_ACCESS_KEY'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('The bucket of driver s3'),
  },
  mapOfKeys,
);

const retention = z.strictObject(
  {
    messagesDays: wholeNumber(1, 36_500)
      .nullable()
      .default(null)
      .describe('Messages older than this are deleted with their content; null: kept for ever'),
    auditDays: wholeNumber(1, 36_500)
      .nullable()
      .default(null)
      .describe('Audit entries older than this are deleted; null: kept for ever'),
    actionsDays: wholeNumber(8, 36_500)
      .nullable()
      .default(null)
      .describe(
        'Actions in mailboxes older than this are deleted once decided; null: kept for ever',
      ),
    eventsDays: wholeNumber(1, 36_500)
      .default(90)
      .describe('Events on anything but a message are kept for so many days'),
  },
  mapOfKeys,
);

const plan = z.strictObject(
  {
    ratePerSecond: positiveNumber(1_000_000, 'requests per second').nullable(),
    dailyEmails: wholeNumber(0, 1_000_000_000).nullable(),
    trialCaps: onOff,
    includedEmails: wholeNumber(0, 1_000_000_000).optional(),
    overagePerThousand: numberFromZero(1_000_000, 'USD').optional(),
  },
  'a map with ratePerSecond, dailyEmails and trialCaps',
);

/** The four plans of specification 8, and the plan of the default organization. */
export const builtInPlans = {
  free: { ratePerSecond: 5, dailyEmails: 1_000, trialCaps: true },
  starter: { ratePerSecond: 10, dailyEmails: 5_000, trialCaps: true },
  growth: { ratePerSecond: 25, dailyEmails: 20_000, trialCaps: true },
  scale: { ratePerSecond: 50, dailyEmails: 100_000, trialCaps: true },
  'self-hosted': { ratePerSecond: null, dailyEmails: null, trialCaps: false },
};

const planName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'a plan name of lower-case letters, digits and hyphens');

export const configSchema = z.strictObject(
  {
    dataDir: lineOfText('the path of a directory')
      .default('./data')
      .describe('Everything the daemon writes lies here; relative to the working directory'),
    database: database.prefault({}).describe('The store'),
    http: http.prefault({}).describe('The HTTP API'),
    smtp: z
      .strictObject(
        {
          inbound: smtpInbound.prefault({}).describe('The listener for incoming mail'),
          submission: smtpSubmission.prefault({}).describe('Sending over SMTP with an API key'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('The SMTP listeners'),
    mailboxes: z
      .strictObject(
        {
          hostedDomain: hostName
            .default('sandbox.test')
            .describe(
              'Mailboxes that name no domain get an address of this one, in any organization',
            ),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Mailboxes'),
    delivery: delivery.prefault({}).describe('Where outgoing mail goes, and how fast'),
    dns: z
      .strictObject(
        {
          servers: listOf(dnsServer, 'DNS servers')
            .default([])
            .describe(
              'Used for every look-up, such as ["127.0.0.1:5353"]; empty: those of the system',
            ),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Name resolution'),
    webhooks: webhooks.prefault({}).describe('Events posted to your endpoints'),
    health: health.prefault({}).describe('When an organization is paused for its bounces'),
    tracking: tracking.prefault({}).describe('Opens and clicks'),
    storage: storage.prefault({}).describe('Blobs'),
    retention: retention.prefault({}).describe('How long things are kept'),
    plans: z
      .record(planName, plan, 'a map from plan names to their limits')
      .default(builtInPlans)
      .describe(
        'Limits by plan, null for none; entries add to or change the five that are built in',
      ),
    log: z
      .strictObject(
        {
          level: choice(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
            .default('info')
            .describe(
              'The least level that is logged: silent, fatal, error, warn, info, debug, trace',
            ),
          mail: onOff
            .default(true)
            .describe('A line for each attempt, each mail that comes in and each refusal (info)'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Logs, on standard error'),
    shutdownGraceSeconds: numberFromZero(3_600, 'seconds')
      .default(10)
      .describe('After SIGTERM, so long for what is in flight to finish'),
    console: z
      .strictObject({ enabled: onOff.default(true).describe('Serve the web console') }, mapOfKeys)
      .prefault({})
      .describe('The web console'),
  },
  mapOfKeys,
);

/** Areas that this version validates but does not use: a value set there causes a warning. */
export const reservedKeys: readonly string[] = ['storage', 'console'];

/** Keys with values that are never shown; of `database.url` only the password is hidden. */
export const secretKeys: readonly string[] = [
  'database.url',
  'delivery.relay.password',
  'delivery.routes',
  'storage.s3.secretAccessKey',
];

type DeepReadonly<T> = T extends readonly (infer Entry)[]
  ? readonly DeepReadonly<Entry>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The whole configuration with every key. `dataDir` and file paths are absolute. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** Any part of the configuration, as in files and overrides. */
export type ConfigInput = z.input<typeof configSchema>;
