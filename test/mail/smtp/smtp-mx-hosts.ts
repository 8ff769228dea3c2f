// Shared by the tests of MTA-STS and DANE: mail hosts mx1.test and mx2.test for example.test with
// certificates of the test authority, a policy host over HTTPS, the DNS for both, and a transport.
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { connect } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import type { DirectRoute } from '../../../src/mail/smtp/route.ts';
import { createTransport, type Transport } from '../../../src/mail/smtp/transport.ts';
import type { Connector } from '../../../src/platform/net/dial.ts';
import { createDns, type Dns } from '../../../src/platform/net/dns.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../../support/smtp-sink.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { mxTls } from './smtp-certificates.ts';
import { mailOf } from './smtp-session-dialogue.ts';

export interface PolicyHost {
  /** Counts the fetches of the policy. */
  readonly requests: number;
  /** The Host header of the last request. */
  readonly askedHost: string | undefined;
  /** Sets the answer from now on; a text is a policy file. */
  answer(policy: string | ((response: ServerResponse) => void)): void;
}

export interface MxHosts {
  server: DnsServer;
  dns: Dns;
  clock: VirtualClock;
  random: ReturnType<typeof seededRandom>;
  transport: Transport;
  /** Connects like net.connect, with port 443 led to the policy host. */
  connector: Connector;
  policyHost: PolicyHost;
  /** Starts mx1.test on 127.0.0.1 and, if `count` is 2, mx2.test on 127.0.0.2. */
  start(count: 1 | 2, options?: SmtpSinkOptions): Promise<SmtpSink[]>;
  /** Delivers one message to b@example.test, with `changes`. */
  deliver(changes?: Partial<DirectRoute>): Promise<Outcome>;
  close(): Promise<void>;
}

async function startPolicyHost(tls: SecureContextOptions) {
  let requests = 0;
  let askedHost: string | undefined;
  let answer: (response: ServerResponse) => void = (response) => response.destroy();
  const server = createServer(tls, (request, response) => {
    requests += 1;
    askedHost = request.headers.host;
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const host: PolicyHost = {
    get requests() {
      return requests;
    },
    get askedHost() {
      return askedHost;
    },
    answer(policy) {
      answer =
        typeof policy === 'function'
          ? policy
          : (response) => response.setHeader('content-type', 'text/plain').end(policy);
    },
  };
  return { host, server, port: typeof address === 'object' && address ? address.port : 0 };
}

/** Starts policy host, DNS and transport, without a mail host. */
export async function mxHosts(policyTls: SecureContextOptions = mxTls): Promise<MxHosts> {
  const clock = virtualClock();
  const random = seededRandom(1);
  const server = await startDnsServer();
  const dns = createDns({ servers: [server.address], clock, random });
  const policy = await startPolicyHost(policyTls);
  const connector: Connector = ({ host, port }) => {
    return connect({ host, port: port === 443 ? policy.port : port });
  };
  const delivery = { hostname: 'client.test', maxConnections: 20, maxConnectionsPerDomain: 5 };
  const config = { delivery };
  const transport = createTransport({ dns, clock, random, connect: connector, config });
  const sinks: SmtpSink[] = [];
  return {
    server,
    dns,
    clock,
    random,
    transport,
    connector,
    policyHost: policy.host,
    async start(count, options = {}) {
      for (let number = 1; number <= count; number += 1) {
        const port = sinks[0]?.port ?? 0;
        const where = { host: `127.0.0.${number}`, port, hostname: `mx${number}.test` };
        sinks.push(await startSmtpSink({ tls: mxTls, ...options, ...where }));
        server.set(`mx${number}.test`, 'A', [`127.0.0.${number}`]);
      }
      const exchanges = sinks.map((_, index) => `mx${index + 1}.test`);
      const records = exchanges.map((exchange, index) => ({ exchange, preference: index }));
      server.set('example.test', 'MX', records);
      return sinks;
    },
    async deliver(changes = {}) {
      const route: DirectRoute = {
        kind: 'direct',
        domain: 'example.test',
        port: sinks[0]?.port ?? 0,
        allowPrivateAddresses: true,
        requireTls: false,
        ...changes,
      };
      const recipients = [`b@${route.domain}`];
      const [outcome] = await transport.deliver({
        ...mailOf({ recipients }),
        route,
        organizationId: 'org_a',
      });
      if (!outcome) throw new Error('no outcome');
      return outcome;
    },
    async close() {
      await transport.close();
      dns.close();
      await server.close();
      for (const sink of sinks) await sink.close();
      policy.server.closeAllConnections();
      await new Promise((resolve) => policy.server.close(resolve));
    },
  };
}
