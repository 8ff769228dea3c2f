// The two large parts of schema.ts: the listeners (HTTP, incoming mail, submission) and outgoing
// mail (mode, routes, relay, retries). Defines keys only; src/mail/smtp/route.ts chooses and uses
// the routes.
import { z } from 'zod';
import {
  choice,
  domainPattern,
  host,
  hostName,
  lineOfText,
  listenPort,
  listOf,
  mapOfKeys,
  network,
  onOff,
  positiveNumber,
  publicUrl,
  recipientPattern,
  remotePort,
  senderPattern,
  spfMechanisms,
  wholeNumber,
} from './values.ts';

export const http = z.strictObject(
  {
    host: host.default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all'),
    port: listenPort.default(4025).describe('Port to listen on; 0 picks a free one'),
    publicUrl: publicUrl
      .nullable()
      .default(null)
      .describe('Address at which others reach the API; null: made from host and port'),
    trustedProxies: listOf(network, 'networks')
      .default([])
      .describe('Proxies whose X-Forwarded-For is believed, such as ["127.0.0.1", "10.1.0.0/16"]'),
    maxBodyBytes: wholeNumber(1_024, 1_000_000_000)
      .default(60_000_000)
      .describe('Largest request body; must hold 40 MB of encoded attachments and the texts'),
    requestTimeoutSeconds: positiveNumber(3_600, 'seconds')
      .default(30)
      .describe('Time after which a request is answered with 504'),
    maxInFlight: wholeNumber(1, 1_000_000)
      .default(1_000)
      .describe('Requests processed at once; more are answered with 503'),
  },
  mapOfKeys,
);

export const smtpInbound = z.strictObject(
  {
    host: host.default('127.0.0.1').describe('Address to listen on for incoming mail'),
    port: listenPort.default(2525).describe('Port to listen on; 0 picks a free one'),
    maxMessageBytes: wholeNumber(1_024, 1_000_000_000)
      .default(50_000_000)
      .describe('Largest message accepted; a larger one gets 552'),
    maxConnections: wholeNumber(1, 100_000)
      .default(200)
      .describe('Connections served at once; more are answered with 421'),
    trustedNetworks: listOf(network, 'networks')
      .default([])
      .describe('Gateways exempt from checks (SPF, DKIM, DMARC), such as ["10.1.0.0/16"]'),
    trustedSealers: listOf(hostName, 'domains')
      .default([])
      .describe('Domains whose ARC seal overrides a DMARC failure, such as ["lists.example.org"]'),
    enforceDmarc: onOff
      .default(true)
      .describe('Refuse mail that fails the DMARC policy reject of its domain'),
    tls: z
      .strictObject(
        {
          certFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Certificate chain in PEM; null: STARTTLS is not offered'),
          keyFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Private key in PEM, of certFile'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('STARTTLS of the listener; relative paths start at the working directory'),
  },
  mapOfKeys,
);

export const smtpSubmission = z.strictObject(
  {
    enabled: onOff
      .default(false)
      .describe('Listener for mail programs that log in with an API key'),
    host: host.default('127.0.0.1').describe('Address to listen on'),
    port: listenPort.default(2587).describe('Port to listen on; 0 picks a free one'),
    tls: z
      .strictObject(
        {
          certFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Certificate chain in PEM; null: only clients on this machine can log in'),
          keyFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Private key in PEM, of certFile'),
          implicit: onOff
            .default(false)
            .describe('TLS from the first byte (as on port 465) instead of STARTTLS'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('TLS of the listener; changed files are read again without a restart'),
  },
  mapOfKeys,
);

const monthInMinutes = 30 * 24 * 60;

const relayAccess = {
  port: remotePort.default(587).describe('Its port: 587 submission, 465 with secure, 25 plain'),
  secure: onOff.default(false).describe('TLS from the first byte (port 465)'),
  requireTls: onOff
    .default(false)
    .describe('Our own rule: send nothing if the smarthost offers no STARTTLS'),
  username: lineOfText().nullable().default(null).describe('User name for AUTH; null: no AUTH'),
  password: lineOfText()
    .nullable()
    .default(null)
    .describe('Password for AUTH; better given as SVC_DELIVERY_RELAY_PASSWORD'),
};

/** Key types of DKIM signatures that a relay may receive. */
const dkimKeys = listOf(choice(['rsa', 'ed25519']), 'of rsa, ed25519');

const routePattern = {
  /** Domains of the recipients; null for all. Only a route with `from` may leave it out. */
  match: domainPattern.nullable().default(null),
  from: senderPattern.nullable().default(null),
};

const route = z
  .discriminatedUnion(
    'via',
    [
      z.strictObject({ ...routePattern, via: z.literal('capture') }),
      z.strictObject({
        ...routePattern,
        via: z.literal('direct'),
        requireTls: onOff.default(false),
      }),
      z.strictObject({
        ...routePattern,
        via: z.literal('relay'),
        /**
         * Host of the smarthost; null for the smarthost of `delivery.relay` with all settings.
         */
        host: host.nullable().default(null),
        ...relayAccess,
        /** Key types of DKIM. Default: all; for a route without `host`, as in `delivery.relay`. */
        dkim: dkimKeys.optional(),
        /** SPF mechanism. Default: unknown; for a route without `host`, as in `delivery.relay`. */
        spf: spfMechanisms.optional(),
      }),
    ],
    'a map with match, and via: one of capture, direct, relay',
  )
  .superRefine(({ match, from }, context) => {
    if (match !== null || from !== null) return;
    const message = 'a domain (example.com), *.example.com or *, or the sender in from';
    context.addIssue({ code: 'custom', path: ['match'], message, input: undefined });
  });

export const delivery = z.strictObject(
  {
    mode: choice(['capture', 'relay', 'direct'])
      .default('capture')
      .describe('capture: nothing leaves this machine; relay: to a smarthost; direct: to the MX'),
    hostname: hostName
      .default('localhost')
      .describe('Our name in EHLO; in direct mode the public name of the address'),
    maxConnections: wholeNumber(1, 10_000)
      .default(100)
      .describe(
        'Outgoing SMTP connections open at once; seven tenths at most for one organization',
      ),
    maxConnectionsPerDomain: wholeNumber(1, 10_000)
      .default(10)
      .describe('Of these, connections to one recipient domain at most'),
    providersFile: lineOfText('the path of a YAML file')
      .nullable()
      .default(null)
      .describe('Rules for providers, added to those of src/mail/smtp/providers.yaml'),
    retry: z
      .strictObject(
        {
          scheduleMinutes: listOf(
            positiveNumber(monthInMinutes, 'minutes'),
            'numbers of minutes',
            1,
          )
            .default([1, 5, 15, 30, 60, 120, 240, 480])
            .describe('Delays between attempts, fractions allowed; the last one repeats'),
          maxAgeHours: positiveNumber(30 * 24, 'hours')
            .default(72)
            .describe('Age at which an undelivered message has failed'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Attempts after a temporary failure'),
    relay: z
      .strictObject(
        {
          host: host.nullable().default(null).describe('The smarthost; required in mode relay'),
          ...relayAccess,
          dkim: dkimKeys
            .nullable()
            .default(null)
            .describe(
              'DKIM signatures by key type, such as [rsa] for Amazon SES, which refuses a second one; ' +
                '[]: none; null: all',
            ),
          spf: spfMechanisms
            .nullable()
            .default(null)
            .describe(
              'SPF mechanism of the smarthost for DNS records, such as include:amazonses.com; ' +
                'null: SPF records get no verdict',
            ),
          assumeDeliveredAfterMinutes: positiveNumber(monthInMinutes, 'minutes')
            .default(240)
            .describe('Time without a bounce after which sent becomes delivered'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('The smarthost of mode relay'),
    direct: z
      .strictObject(
        {
          port: remotePort.default(25).describe('Port of the MX'),
          allowPrivateAddresses: onOff
            .default(false)
            .describe('Deliver to an MX on a private, loopback or link-local address'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Mode direct'),
    routes: listOf(route, 'routes')
      .default([])
      .describe(
        'By recipient (match) and sender (from), first match wins: [{match: "*.example.com", via: relay, host: …}]',
      ),
    allow: listOf(recipientPattern, 'addresses or domains')
      .default([])
      .describe(
        'For staging: only these recipients get mail, the rest is captured; empty: all get it',
      ),
  },
  mapOfKeys,
);
