// Opens a page in the user's browser.
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from './output/failure.ts';
import { writeNote } from './output/output.ts';

/** The program that opens a file, by platform. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/**
 * Writes a page to a new temporary file and opens it. The file stays: the browser reads it later.
 * @throws UsageError if the page cannot be opened
 */
export async function openPage(html: string): Promise<void> {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-page-')), 'page.html');
  writeFileSync(file, html, { mode: 0o600 });
  const [command = '', ...words] = openers[process.platform] ?? ['xdg-open'];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...words, file], { stdio: 'ignore' });
    child.on('error', (error) =>
      reject(new UsageError(`No browser opens (${error.message}). The page is ${file}`)),
    );
    child.on('exit', (code) => {
      if (code === 0) return resolve();
      reject(new UsageError(`${command} failed (${code}). The page is ${file}`));
    });
  });
  writeNote(`opened ${file}`);
}
