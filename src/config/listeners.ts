// The configuration of what listens: HTTP, incoming mail, submission (contract 1 and 8).
// Part of schema.ts; leaves alone what the listeners do with it.
import { z } from 'zod';
import {
  host,
  lineOfText,
  listenPort,
  listOf,
  mapOfKeys,
  network,
  onOff,
  positiveNumber,
  publicUrl,
  wholeNumber,
} from './values.ts';

export const http = z.strictObject(
  {
    host: host.default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all'),
    port: listenPort.default(4025).describe('Port to listen on; 0 picks a free one'),
    publicUrl: publicUrl
      .nullable()
      .default(null)
      .describe('The address others reach the API at; null: made from host and port'),
    maxBodyBytes: wholeNumber(1_024, 1_000_000_000)
      .default(60_000_000)
      .describe('Largest request body; 40 MB of encoded attachments and the texts must fit'),
    requestTimeoutSeconds: positiveNumber(3_600, 'seconds')
      .default(30)
      .describe('A request that takes longer is answered with 504'),
    maxInFlight: wholeNumber(1, 1_000_000)
      .default(1_000)
      .describe('Requests worked on at once; beyond it the answer is 503 at once'),
  },
  mapOfKeys,
);

export const smtpInbound = z.strictObject(
  {
    host: host.default('127.0.0.1').describe('Address to listen on for incoming mail'),
    port: listenPort.default(2525).describe('Port to listen on; 0 picks a free one'),
    maxMessageBytes: wholeNumber(1_024, 1_000_000_000)
      .default(50_000_000)
      .describe('Largest message taken; a larger one gets 552'),
    maxConnections: wholeNumber(1, 100_000)
      .default(200)
      .describe('Connections served at once; beyond it the answer is 421'),
    trustedNetworks: listOf(network, 'networks')
      .default([])
      .describe('Gateways whose mail is not checked (SPF, DKIM, DMARC), such as ["10.1.0.0/16"]'),
    enforceDmarc: onOff
      .default(true)
      .describe('Refuse mail that fails DMARC of a domain whose policy is reject'),
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
            .describe('Private key in PEM; goes with certFile'),
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
  },
  mapOfKeys,
);
