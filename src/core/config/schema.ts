// Every key of the configuration with bounds, default and one-line reason. The reasons become
// config.example.yaml, so they address readers of that file. problems.ts has the rules between
// keys.
import { z } from 'zod';
import { consoleSection } from './console.ts';
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

const secret = z.strictObject(
  {
    file: lineOfText('the path of a file')
      .nullable()
      .default(null)
      .describe('Its file, which several daemons can share; default: secret.key in dataDir'),
    key: lineOfText('32 bytes in base64')
      .nullable()
      .default(null)
      .describe('The key itself in base64, instead of a file; better given as SVC_SECRET_KEY'),
  },
  mapOfKeys,
);

const database = z.strictObject(
  {
    url: databaseUrl
      .default('sqlite:svc.db')
      .describe('sqlite:FILE (relative to dataDir), or postgres://USER:PASSWORD@HOST/DATABASE'),
    poolSize: wholeNumber(2, 200)
      .default(12)
      .describe('Most connections of a process to PostgreSQL'),
    ssl: z
      .strictObject(
        {
          mode: choice(['url', 'disable', 'require', 'verify-full'])
            .default('url')
            .describe(
              'TLS to PostgreSQL; verify-full also checks certificate and name; url: as its sslmode says',
            ),
          caFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Certificates (PEM) that verify-full trusts; default: those of Node'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('TLS to PostgreSQL'),
    statementTimeoutSeconds: positiveNumber(3_600, 'seconds')
      .nullable()
      .default(null)
      .describe('Time after which PostgreSQL ends a statement; default: as the server says'),
    listenUrl: databaseUrl
      .nullable()
      .default(null)
      .describe('Direct postgres:// URL for LISTEN, if database.url leads to PgBouncer'),
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
      .describe('Time after which an unanswered post has failed'),
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
      .describe('Attempts after a failed one'),
    disableAfterDays: positiveNumber(365, 'days')
      .default(5)
      .describe('Days of failure without a success after which an endpoint is disabled'),
  },
  mapOfKeys,
);

const health = z.strictObject(
  {
    windowHours: wholeNumber(1, 720)
      .default(24)
      .describe('Hours over which the rates are computed'),
    minimumSends: wholeNumber(1, 1_000_000)
      .default(100)
      .describe('Minimum of attempts in the window for the rates to count'),
    maxBounceRate: rate()
      .default(0.05)
      .describe('Rate of hard bounces from which the organization is paused'),
    maxComplaintRate: rate()
      .default(0.003)
      .describe('Rate of complaints from which the organization is paused'),
  },
  mapOfKeys,
);

const storage = z.strictObject(
  {
    driver: choice(['database', 'filesystem', 's3'])
      .default('database')
      .describe(
        'Place of large attachments and raw mail: the database, dataDir/blobs, or a bucket',
      ),
    inlineBytes: wholeNumber(1_024, 1_073_741_824)
      .default(65_536)
      .describe('Files below this many bytes stay in the database with each driver'),
    encrypt: onOff
      .default(false)
      .describe('Encrypt what is stored outside the database (AES-256-GCM)'),
    s3: z
      .strictObject(
        {
          endpoint: publicUrl
            .nullable()
            .default(null)
            .describe('Address of the S3 service, without the bucket'),
          region: lineOfText()
            .nullable()
            .default(null)
            .describe('Region of the bucket; null: auto'),
          bucket: lineOfText().nullable().default(null).describe('Name of the bucket'),
          accessKeyId: lineOfText().nullable().default(null).describe('Access key'),
          secretAccessKey: lineOfText()
            .nullable()
            .default(null)
            .describe('Secret of the access key; better given as SVC_STORAGE_S3_SECRET_ACCESS_KEY'),
          pathStyle: onOff
            .default(true)
            .describe('Write the bucket into the path of URLs; off: into their host'),
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
      .describe('Age at which messages are deleted with their content; null: never'),
    contentDays: wholeNumber(1, 36_500)
      .nullable()
      .default(null)
      .describe('Age at which messages lose their content and stay; null: as long as the message'),
    auditDays: wholeNumber(1, 36_500)
      .nullable()
      .default(null)
      .describe('Age at which audit entries are deleted; null: never'),
    actionsDays: wholeNumber(8, 36_500)
      .nullable()
      .default(null)
      .describe('Age at which decided actions in mailboxes are deleted; null: never'),
    eventsDays: wholeNumber(1, 36_500)
      .default(90)
      .describe('Age at which events are deleted, except those of messages'),
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
      .describe('Directory of all files that the daemon writes; relative to the working directory'),
    database: database.prefault({}).describe('The store'),
    secret: secret.prefault({}).describe('The root key, which encrypts secrets in the store'),
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
            .describe('Domain of mailboxes that name none, in any organization'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Mailboxes'),
    delivery: delivery.prefault({}).describe('Route and speed of outgoing mail'),
    dns: z
      .strictObject(
        {
          servers: listOf(dnsServer, 'DNS servers')
            .default([])
            .describe(
              'Servers for every look-up, such as ["127.0.0.1:5353"]; empty: those of the system',
            ),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Name resolution'),
    webhooks: webhooks.prefault({}).describe('Events posted to your endpoints'),
    health: health
      .prefault({})
      .describe('Limits of bounces and complaints that pause an organization'),
    tracking: tracking.prefault({}).describe('Opens and clicks'),
    storage: storage.prefault({}).describe('Blobs'),
    retention: retention.prefault({}).describe('How long data is stored'),
    doctor: z
      .strictObject(
        {
          outgoingHost: hostName
            .nullable()
            .default('gmail-smtp-in.l.google.com')
            .describe('Mail host whose port 25 is tried by svc doctor --mail; null: none'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Checks of svc doctor'),
    receipts: z
      .strictObject(
        {
          webhook: publicUrl
            .nullable()
            .default(null)
            .describe(
              'URL to which the signed heads of sealed logs are posted each day; else the log has them',
            ),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Proofs of delivery'),
    plans: z
      .record(planName, plan, 'a map from plan names to their limits')
      .default(builtInPlans)
      .describe('Limits by plan, null for none; entries add to or change the five built-in ones'),
    log: z
      .strictObject(
        {
          level: choice(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
            .default('info')
            .describe('Lowest level to log: silent, fatal, error, warn, info, debug, trace'),
          mail: onOff
            .default(true)
            .describe(
              'Log a line for each attempt, received mail, report and refusal (level info)',
            ),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Logs, on standard error'),
    shutdownGraceSeconds: numberFromZero(3_600, 'seconds')
      .default(10)
      .describe('Time after SIGTERM for work in progress to finish'),
    console: consoleSection.prefault({}).describe('The web console'),
    mcp: z
      .strictObject(
        { enabled: onOff.default(true).describe('Serve POST /mcp for agents') },
        mapOfKeys,
      )
      .prefault({})
      .describe('Model Context Protocol'),
  },
  mapOfKeys,
);

/** Keys with secret values, never shown. In URLs of databases only the password is hidden. */
export const secretKeys: readonly string[] = [
  'database.url',
  'database.listenUrl',
  'delivery.relay.password',
  'delivery.routes',
  'storage.s3.secretAccessKey',
  'secret.key',
  'console.signIn.oidc.clientSecret',
];

type DeepReadonly<T> = T extends readonly (infer Entry)[]
  ? readonly DeepReadonly<Entry>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The whole configuration with every key. Paths of `dataDir` and files are absolute. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** Any part of the configuration, as in files and overrides. */
export type ConfigInput = z.input<typeof configSchema>;
