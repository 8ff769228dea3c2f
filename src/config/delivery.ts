// The configuration of outgoing mail: mode, routes, relay, retries (contract 1 `delivery.mode`, 5).
// Part of schema.ts; leaves alone how a route is chosen and used (src/smtp/route.ts).
import { z } from 'zod';
import {
  choice,
  domainPattern,
  host,
  hostName,
  lineOfText,
  listOf,
  mapOfKeys,
  onOff,
  positiveNumber,
  recipientPattern,
  remotePort,
  wholeNumber,
} from './values.ts';

const monthInMinutes = 30 * 24 * 60;

const relayAccess = {
  port: remotePort.default(587).describe('Its port: 587 submission, 465 with secure, 25 plain'),
  secure: onOff.default(false).describe('TLS from the first byte (port 465)'),
  requireTls: onOff.default(false).describe('Refuse to send when the smarthost offers no STARTTLS'),
  username: lineOfText().nullable().default(null).describe('User name for AUTH; null: no AUTH'),
  password: lineOfText()
    .nullable()
    .default(null)
    .describe('Password for AUTH; better given as SVC_DELIVERY_RELAY_PASSWORD'),
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
      /** Null: the smarthost of `delivery.relay`, with all of its settings. */
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
      .describe('capture: nothing leaves this machine; relay: to a smarthost; direct: to the MX'),
    hostname: hostName
      .default('localhost')
      .describe(
        'Our name in EHLO; in direct mode the public name that the address resolves back to',
      ),
    maxConnections: wholeNumber(1, 10_000)
      .default(100)
      .describe('Outgoing SMTP connections open at once; of one organization seven tenths at most'),
    maxConnectionsPerDomain: wholeNumber(1, 10_000)
      .default(10)
      .describe('Of these, at most so many to one recipient domain'),
    providersFile: lineOfText('the path of a YAML file')
      .nullable()
      .default(null)
      .describe('Rules for providers, laid over those of src/smtp/providers.yaml'),
    retry: z
      .strictObject(
        {
          scheduleMinutes: listOf(
            positiveNumber(monthInMinutes, 'minutes'),
            'numbers of minutes',
            1,
          )
            .default([1, 5, 15, 30, 60, 120, 240, 480])
            .describe('Waits between attempts, fractions allowed; the last one repeats'),
          maxAgeHours: positiveNumber(30 * 24, 'hours')
            .default(72)
            .describe('A message that could not be delivered for so long has failed'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('What happens after a temporary failure'),
    relay: z
      .strictObject(
        {
          host: host.nullable().default(null).describe('The smarthost; mode relay needs it'),
          ...relayAccess,
          assumeDeliveredAfterMinutes: positiveNumber(monthInMinutes, 'minutes')
            .default(240)
            .describe('Without a bounce for so long, sent becomes delivered'),
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
        'By recipient domain, first match wins: [{match: "*.example.com", via: relay, host: …}]',
      ),
    allow: listOf(recipientPattern, 'addresses or domains')
      .default([])
      .describe('For staging: only these recipients leave, the rest is captured; empty: all leave'),
  },
  mapOfKeys,
);
