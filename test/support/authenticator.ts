// A software authenticator: makes passkeys and answers questions as a browser with a security key
// does (WebAuthn Level 3, 6), and makes each broken answer of `Fault`.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

/** Differences to a right answer. */
export interface Fault {
  origin?: string;
  rpId?: string;
  /** Challenge that the authenticator signs, in place of the challenge of the question. */
  challenge?: string;
  /** Type of the client data, such as `webauthn.create` for a sign-in. */
  type?: string;
  isVerified?: boolean;
  isPresent?: boolean;
  /** Signs with a key of its own. */
  isForged?: boolean;
  /** Value of the counter; otherwise it grows by each answer. */
  counter?: number;
  userHandle?: string | null;
  /** Id in the answer, in place of the credential's. */
  credentialId?: string;
  /** Attestation: none, by the key itself, or by a certificate. */
  attestation?: 'none' | 'self' | 'certificate';
  /** Number in the COSE key, in place of the algorithm's. */
  coseAlgorithm?: number;
}

interface Credential {
  id: Buffer;
  rpId: string;
  userHandle: string;
  algorithm: Algorithm;
  keys: { publicKey: KeyObject; privateKey: KeyObject };
  counter: number;
}

const coseAlgorithms = { ES256: -7, EdDSA: -8, RS256: -257 } as const;
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');

type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<number | string, Cbor>;

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}

/** Encodes as CBOR (RFC 8949): small integers, texts, bytes, lists and maps. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') {
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flat().map((part) => cbor(part))]);
  }
  const list = value as readonly Cbor[];
  return Buffer.concat([head(4, list.length), ...list.map(cbor)]);
}

function newKeys(algorithm: Algorithm): Credential['keys'] {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** Returns a public key in the form of COSE (RFC 9053). */
function coseKey({ algorithm, keys }: Credential, number: number): Buffer {
  const jwk = keys.publicKey.export({ format: 'jwk' });
  const part = (name: 'x' | 'y' | 'n' | 'e') => Buffer.from(jwk[name] ?? '', 'base64url');
  if (algorithm === 'RS256') {
    return cbor(
      new Map<number, Cbor>([
        [1, 3],
        [3, number],
        [-1, part('n')],
        [-2, part('e')],
      ]),
    );
  }
  const isOkp = algorithm === 'EdDSA';
  const key = new Map<number, Cbor>([
    [1, isOkp ? 1 : 2],
    [3, number],
    [-1, isOkp ? 6 : 1],
  ]);
  key.set(-2, part('x'));
  if (!isOkp) key.set(-3, part('y'));
  return cbor(key);
}

function signed({ algorithm, keys }: Pick<Credential, 'algorithm' | 'keys'>, data: Buffer): Buffer {
  return sign(algorithm === 'EdDSA' ? null : 'sha256', data, keys.privateKey);
}

interface CreationOptions {
  challenge: string;
  rp: { id?: string };
  user: { id: string };
  excludeCredentials?: { id: string }[];
}

interface RequestOptions {
  challenge: string;
  rpId?: string;
  allowCredentials?: { id: string }[];
}

/** A browser with a security key, or with a phone that copies passkeys and does not count. */
export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #algorithm: Algorithm;
  readonly #counts: boolean;
  #credentials: Credential[] = [];

  constructor(
    origin: string,
    { algorithm = 'ES256', counts = true }: { algorithm?: Algorithm; counts?: boolean } = {},
  ) {
    this.#origin = origin;
    this.#algorithm = algorithm;
    this.#counts = counts;
  }

  #clientData(type: string, challenge: string, fault: Fault): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: fault.type ?? type,
        challenge: fault.challenge ?? challenge,
        origin: fault.origin ?? this.#origin,
        crossOrigin: false,
      }),
    );
  }

  #data(credential: Credential, fault: Fault, attested?: Buffer): Buffer {
    const { isPresent = true, isVerified = true, rpId = credential.rpId } = fault;
    const flags = (isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (attested ? 0x40 : 0);
    const synced = this.#counts ? 0 : 0x18;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(fault.counter ?? credential.counter);
    const head = [sha256(rpId), Buffer.from([flags | synced]), counter];
    return Buffer.concat(attested ? [...head, attested] : head);
  }

  /** Answers `navigator.credentials.create`, as JSON. */
  create({ challenge, rp, user }: CreationOptions, fault: Fault = {}): string {
    const credential: Credential = {
      id: randomBytes(32),
      rpId: rp.id ?? '',
      userHandle: user.id,
      algorithm: this.#algorithm,
      keys: newKeys(this.#algorithm),
      counter: 0,
    };
    this.#credentials.push(credential);
    const { id } = credential;
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const number = fault.coseAlgorithm ?? coseAlgorithms[this.#algorithm];
    const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey(credential, number)]);
    const authData = this.#data(credential, fault, attested);
    const clientData = this.#clientData('webauthn.create', challenge, fault);
    const { attestation = 'none' } = fault;
    const statement = new Map<string, Cbor>();
    if (attestation !== 'none') {
      statement.set('alg', number);
      statement.set('sig', signed(credential, Buffer.concat([authData, sha256(clientData)])));
    }
    if (attestation === 'certificate') statement.set('x5c', [randomBytes(40)]);
    const object = new Map<string, Cbor>([
      ['fmt', attestation === 'none' ? 'none' : 'packed'],
      ['attStmt', statement],
      ['authData', authData],
    ]);
    return JSON.stringify({
      id: base64url(id),
      rawId: base64url(id),
      type: 'public-key',
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(cbor(object)),
        transports: ['usb'],
      },
      clientExtensionResults: { credProps: { rk: true } },
    });
  }

  /** Answers `navigator.credentials.get` with the last fitting passkey, as JSON. */
  get({ challenge, rpId, allowCredentials }: RequestOptions, fault: Fault = {}): string {
    const allowed = allowCredentials?.map(({ id }) => id);
    const credential = this.#credentials.findLast(
      (one) => one.rpId === rpId && (allowed?.includes(base64url(one.id)) ?? true),
    );
    if (!credential) throw new Error(`no passkey of ${rpId} here`);
    if (this.#counts) credential.counter += 1;
    const authData = this.#data(credential, fault);
    const clientData = this.#clientData('webauthn.get', challenge, fault);
    const data = Buffer.concat([authData, sha256(clientData)]);
    const signer = fault.isForged ? { ...credential, keys: newKeys(this.#algorithm) } : credential;
    const id = fault.credentialId ?? base64url(credential.id);
    const { userHandle = credential.userHandle } = fault;
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: base64url(signed(signer, data)),
        ...(userHandle !== null && { userHandle }),
      },
      clientExtensionResults: {},
    });
  }
}
