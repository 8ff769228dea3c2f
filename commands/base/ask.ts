// Questions to a person at a terminal, on standard error. Before something is taken away for good there
// is one, elsewhere `--yes` or nothing is done. Doorway to @inquirer/prompts.
import { DeclinedError, InterruptedError, UsageError } from './failure.ts';

/** Whether there is a person to ask. */
function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** The answer. @throws InterruptedError, which says `standing`, when it is Ctrl-C. */
function answerOf<T>(asked: Promise<T>, standing: string): Promise<T> {
  return asked.catch((error: unknown) => {
    const isStopped = error instanceof Error && error.name === 'ExitPromptError';
    throw isStopped ? new InterruptedError(standing) : error;
  });
}

/**
 * Returns when the person agrees or has agreed with `--yes`.
 * @throws UsageError where nobody can be asked; DeclinedError when the answer is no;
 * InterruptedError when it is Ctrl-C.
 */
export async function confirmed(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!canAsk()) {
    throw new UsageError(`${question} Nobody can be asked here: say --yes to do it.`);
  }
  const { confirm } = await import('@inquirer/prompts');
  const asked = confirm({ message: question, default: false }, { output: process.stderr });
  if (!(await answerOf(asked, 'nothing was changed'))) {
    throw new DeclinedError('nothing was changed');
  }
}

/** Whether a person can be shown something, and asked what to do with it. */
export function canShowAndAsk(): boolean {
  return canAsk() && process.stdout.isTTY === true;
}

/** A letter, and what it stands for. */
interface Choice<Value> {
  key: 'a' | 'e' | 'q' | 'r' | 's';
  name: string;
  value: Value;
}

/** What ends with Ctrl-C leaves all answers before it as they are. */
const standing = 'stopped; what was decided stays decided';

/** One of these by its letter; Enter alone lists them. @throws InterruptedError. */
export async function chosen<const Value>(
  message: string,
  choices: readonly Choice<Value>[],
): Promise<Value> {
  const { expand } = await import('@inquirer/prompts');
  return answerOf(expand<Value>({ message, choices }, { output: process.stderr }), standing);
}

/** A line of text, which may be empty. @throws InterruptedError. */
export async function typedLine(message: string): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  return (await answerOf(input({ message }, { output: process.stderr }), standing)).trim();
}
