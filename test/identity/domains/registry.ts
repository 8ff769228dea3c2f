// A registry on loopback: IANA's list of RDAP servers and RDAP servers themselves, over HTTPS. A
// connector leads from their public addresses to it.
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Connector } from '../../../src/platform/net/dial.ts';

/** Certificate of data.iana.org, rdap.registry.test and other.registry.test, valid 2020 to 2119. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBljCCATygAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1yZWdpc3Ry
eS50ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMTkxMjMxMDAwMDAwWjAYMRYwFAYD
VQQDDA1yZWdpc3RyeS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEBB2+
1ov7GKqV7cwh0u2zy4Jzb75nrfiWtBHfvYfE44M8AMD0R7nxDa3nmg842YCzxrXJ
RPNdmblQ7MO58JuDJ6N1MHMwQQYDVR0RBDowOIINZGF0YS5pYW5hLm9yZ4IScmRh
cC5yZWdpc3RyeS50ZXN0ghNvdGhlci5yZWdpc3RyeS50ZXN0MA8GA1UdEwEB/wQF
MAMBAf8wHQYDVR0OBBYEFIHCWM7B2Z+uGdhyeejrKXBWpba0MAoGCCqGSM49BAMC
A0gAMEUCIAlhsVEE1iGj8ARbCwwCWzaVhoHW/cTL2T8ZWc7DPn75AiEA2z1DIOR1
gkHUzvjSoDOGa4ID6n+gzbznScDMQ2PLdPg=
-----END CERTIFICATE-----
`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0CVeJq+MsJhjVcRW
hyEkyXFv+6HVVyRMGnyBq0gj3ZGhRANCAAQEHb7Wi/sYqpXtzCHS7bPLgnNvvmet
+Ja0Ed+9h8TjgzwAwPRHufENreeaDzjZgLPGtclE812ZuVDsw7nwm4Mn
-----END PRIVATE KEY-----
`;

/** A public address, for names of the registry. */
export const registryAddress = '9.9.9.9';

export interface Registry {
  /** `GET host/path` of each request, in order. */
  readonly asked: string[];
  /** Addresses that were dialled, in order. */
  readonly dialled: string[];
  connector: Connector;
  /** Answers a URL, `host/path`: with JSON, or by a function. */
  answer(url: string, answer: object | ((response: ServerResponse) => void)): void;
  close(): Promise<void>;
}

/** Makes this process trust the certificate of the registry. */
export function trustRegistry(): void {
  setDefaultCACertificates([...getCACertificates('default'), cert]);
}

/** Starts the registry. */
export async function startRegistry(): Promise<Registry> {
  const asked: string[] = [];
  const dialled: string[] = [];
  const answers = new Map<string, object | ((response: ServerResponse) => void)>();
  const server = createServer({ key, cert }, (request, response) => {
    const url = `${request.headers.host}${request.url}`;
    asked.push(url);

    const answer = answers.get(url);
    if (typeof answer === 'function') return answer(response);
    response.statusCode = answer ? 200 : 404;
    response.setHeader('content-type', 'application/rdap+json').end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    dialled,
    connector(to) {
      dialled.push(`${to.host}:${to.port}`);
      return connect({ host: '127.0.0.1', port });
    },
    answer: (url, answer) => void answers.set(url, answer),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
