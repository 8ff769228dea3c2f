// The two large parts of schema.ts: the listeners (HTTP, incoming mail, submission) and outgoing mail (mode,
// routes, relay, retries). Defines keys only; src/smtp/route.ts chooses and uses the routes.
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
  wholeNumber,
} from './values.ts';

export const http = z.strictObject(
  {
    host: host.default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all'),
    port: listenPort.default(4025).describe('Port to listen on; 0 picks a free one'),
    publicUrl: publicUrl
      .nullable()
      .default(null)
      .describe('Address of the API for others; null: made from host and port'),
    maxBodyBytes: wholeNumber(1_024, 1_000_000_000)
      .default(60_000_000)
      .describe('Largest request body; 40 MB of encoded attachments and the texts must fit'),
    requestTimeoutSeconds: positiveNumber(3_600, 'seconds')
      .default(30)
      .describe('Time limit of a request; then the answer is 504'),
    maxInFlight: wholeNumber(1, 1_000_000)
      .default(1_000)
      .describe('Requests processed at once; further ones get a 503'),
  },
  mapOfKeys,
);

export const smtpInbound = z.strictObject(
  {
    host: host.default('127.0.0.1').describe('Address to listen on for incoming mail'),
    port: listenPort.default(2525).describe('Port to listen on; 0 picks a free one'),
    maxMessageBytes: wholeNumber(1_024, 1_000_000_000)
      .default(50_000_000)
      .describe('Largest accepted message; a larger one gets 552'),
    maxConnections: wholeNumber(1, 100_000)
      .default(200)
      .describe('Connections at once; further ones get a 421'),
    trustedNetworks: listOf(network, 'networks')
      .default([])
      .describe('Gateways whose mail is not checked (SPF, DKIM, DMARC), such as ["10.1.0.0/16"]'),
    enforceDmarc: onOff
      .default(true)
      .describe('Refuse mail that fails DMARC under a policy of reject'),
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
            .describe('Private key in PEM of the certificate in certFile'),
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
      .describe('A listener for mail programs that log in with an API key'),
    host: host.default('127.0.0.1').describe('Address to listen on'),
    port: listenPort.default(2587).describe('Port to listen on; 0 picks a free one'),
    tls: z
      .strictObject(
        {
          certFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Certificate chain in PEM; null: only this machine can log in'),
          keyFile: lineOfText('the path of a PEM file')
            .nullable()
            .default(null)
            .describe('Private key in PEM of the certificate in certFile'),
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
  port: remotePort
    .default(587)
    .describe('Port of the smarthost: 587 submission, 465 with secure, 25 plain'),
  secure: onOff.default(false).describe('TLS from the first byte (port 465)'),
  requireTls: onOff.default(false).describe('Refuse to send if the smarthost offers no STARTTLS'),
  username: lineOfText().nullable().default(null).describe('User name for AUTH; null: no AUTH'),
  password: lineOfText()
    .nullable()
    .default(null)
    .describe('Password for AUTH; better set by SVC_DELIVERY_RELAY_PASSWORD'),
};

const route = z.discriminatedUnion(
  'via',
  [
    z.strictObject({ match: domainPattern, via: z.literal('capture') }),
    z.strictObject({
      match: domainPattern,
      via: z.literal('direct'),
      requireTls: onOff.default(false),
    }),
    z.strictObject({
      match: domainPattern,
      via: z.literal('relay'),
      /** Host of the smarthost; null for the smarthost of `delivery.relay` with all of its settings. */
      host: host.nullable().default(null),
      ...relayAccess,
    }),
  ],
  'a map with match, and via: one of capture, direct, relay',
);

export const delivery = z.strictObject(
  {
    mode: choice(['capture', 'relay', 'direct'])
      .default('capture')
      .describe('capture: no mail leaves this machine; relay: to a smarthost; direct: to the MX'),
    hostname: hostName
      .default('localhost')
      .describe(
        'Our name in EHLO; in direct mode the PTR record of the address must have this name',
      ),
    maxConnections: wholeNumber(1, 10_000)
      .default(100)
      .describe('Outgoing SMTP connections at once; one organization gets seven tenths at most'),
    maxConnectionsPerDomain: wholeNumber(1, 10_000)
      .default(10)
      .describe('Outgoing SMTP connections at once to one recipient domain'),
    providersFile: lineOfText('the path of a YAML file')
      .nullable()
      .default(null)
      .describe('Your rules for providers; they override those of src/smtp/providers.yaml'),
    retry: z
      .strictObject(
        {
          scheduleMinutes: listOf(
            positiveNumber(monthInMinutes, 'minutes'),
            'numbers of minutes',
            1,
          )
            .default([1, 5, 15, 30, 60, 120, 240, 480])
            .describe('Minutes between attempts, fractions allowed; the last number repeats'),
          maxAgeHours: positiveNumber(30 * 24, 'hours')
            .default(72)
            .describe('Time after which an undelivered message fails'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Retries after a temporary failure'),
    relay: z
      .strictObject(
        {
          host: host
            .nullable()
            .default(null)
            .describe('Host name of the smarthost; required in mode relay'),
          ...relayAccess,
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
        'Routes by recipient domain, first match wins: [{match: "*.example.com", via: relay, host: …}]',
      ),
    allow: listOf(recipientPattern, 'addresses or domains')
      .default([])
      .describe(
        'For staging: only mail to these recipients leaves, other mail is captured; empty: all leaves',
      ),
  },
  mapOfKeys,
);
