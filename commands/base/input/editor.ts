// Opens a text in the person's editor, as git does: $VISUAL, else $EDITOR, else vi.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../output/failure.ts';
import { beforeInterrupt } from '../signals.ts';
import { readText } from './files.ts';

/**
 * Returns the text as the person edited it. The file is readable only by the owner, and deleted
 * afterwards.
 * @throws UsageError if the editor cannot be started or reports a failure.
 */
export async function editedText(text: string): Promise<string> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  const directory = mkdtempSync(join(tmpdir(), 'svc-edit-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const unwatch = beforeInterrupt(remove);
  try {
    const file = join(directory, 'mail.txt');
    writeFileSync(file, text, { mode: 0o600 });
    // $EDITOR may have arguments: "code --wait".
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0) {
      throw new UsageError(
        `the editor "${editor}" ended with ${code ?? signal}: the edit was discarded`,
      );
    }
    return await readText(file);
  } finally {
    unwatch();
    remove();
  }
}
