// The style, the scripts and the icon of the console. Their names contain a hash of the bytes, so
// browsers can cache them for ever.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Packed } from '../http/openapi/packed.ts';

export interface Asset {
  type: string;
  content: Packed;
}

export interface AssetUrls {
  style: string;
  script: string;
  passkeys: string;
  icon: string;
}

export interface Assets {
  urls: AssetUrls;
  /** Files by the last part of the URL. */
  files: ReadonlyMap<string, Asset>;
}

const styles = new URL('./assets/css/', import.meta.url);

/** Joins the style sheets into a single text, without comments and indentation. */
export function styleOf(): string {
  const texts = readdirSync(styles)
    .sort()
    .map((name) => readFileSync(new URL(name, styles), 'utf8'));
  return texts
    .join('')
    .replaceAll(/\/\*[^*]*\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}');
}

/** Returns a script without its comments and indentation. */
const scriptOf = (bytes: Buffer) =>
  Buffer.from(
    bytes
      .toString('utf8')
      .split('\n')
      .map((line) => line.trimStart())
      .filter((line) => line !== '' && !/^(?:\/\/|\/?\*)/.test(line))
      .join('\n'),
  );

/** Reads the files, and derives their names from their bytes. */
export function readAssets(): Assets {
  const files = new Map<string, Asset>();
  const fileOf = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url));
  const put = (name: string, type: string, bytes = fileOf(name)) => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
    const hashed = name.replace('.', `-${hash}.`);
    files.set(hashed, { type: `${type}; charset=utf-8`, content: new Packed(bytes) });
    return `/console/assets/${hashed}`;
  };
  const style = put('console.css', 'text/css', Buffer.from(styleOf()));
  const putScript = (name: string) => put(name, 'text/javascript', scriptOf(fileOf(name)));
  const script = putScript('console.js');
  const passkeys = putScript('passkeys.js');
  const icon = put('icon.svg', 'image/svg+xml');
  return { urls: { style, script, passkeys, icon }, files };
}
