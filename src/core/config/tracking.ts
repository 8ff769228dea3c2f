// The part of schema.ts about open and click links: their own listeners, and certificates for
// tracking hosts. src/outbound/tracking uses it.
import { z } from 'zod';
import {
  choice,
  host,
  lineOfText,
  listenPort,
  mapOfKeys,
  onOff,
  publicUrl,
  remotePort,
} from './values.ts';

const listener = {
  host: host.default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all'),
};

const acme = z.strictObject(
  {
    enabled: onOff
      .default(false)
      .describe('Fetch certificates for tracking hosts; false: a proxy in front has them'),
    email: lineOfText('an email address')
      .nullable()
      .default(null)
      .describe('Address for notices of the certificate authority'),
    directoryUrl: publicUrl
      .default('https://acme-v02.api.letsencrypt.org/directory')
      .describe('Directory of the certificate authority (RFC 8555); enabling agrees to its terms'),
    challenge: choice(['http-01', 'dns-01'])
      .default('http-01')
      .describe('Proof of a host: over tracking.http at port 80, or over tracking.acme.dns'),
    dns: z
      .strictObject(
        {
          ...listener,
          port: listenPort
            .nullable()
            .default(null)
            .describe('Port to listen on, UDP and TCP; 53 from outside; null: off'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Name server that answers dns-01, and nothing else'),
  },
  mapOfKeys,
);

export const tracking = z.strictObject(
  {
    publicUrl: publicUrl
      .nullable()
      .default(null)
      .describe('Address of open and click links; null: that of the API'),
    region: lineOfText().default('local').describe('Region that custom tracking shows'),
    http: z
      .strictObject(
        {
          ...listener,
          port: listenPort
            .nullable()
            .default(null)
            .describe('Port to listen on; 80 from outside, or behind a proxy; null: off'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('Links and challenges of tracking hosts, and nothing else, without TLS'),
    https: z
      .strictObject(
        {
          ...listener,
          port: listenPort.nullable().default(null).describe('Port to listen on; null: off'),
          publicPort: remotePort.default(443).describe('Port at which others reach the listener'),
        },
        mapOfKeys,
      )
      .prefault({})
      .describe('The same links with TLS, by the certificates of the hosts'),
    acme: acme.prefault({}).describe('Certificates by ACME'),
  },
  mapOfKeys,
);
