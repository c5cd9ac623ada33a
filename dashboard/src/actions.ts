// What a person does to a fact, and what the page says of it.

import { act, type Done, type Failure, refresh } from "./api";

export interface Notice {
  text: string;
  hint?: string;
  /** The command that the notice's button takes back. */
  command?: string | null;
  isFailure?: boolean;
}

const NOTHING_LEFT: Failure = { message: "Nothing that you did on this page is left to take back.", hint: "Your last command, wherever you gave it: git mem undo" };

// commands of this page that were not taken back, the last one at the end
let commands: string[] = [];
let running: Promise<Failure | null> = Promise.resolve(null);
let show: (notice: Notice | null) => void = () => undefined;

export function onNotice(listener: (notice: Notice | null) => void): void {
  show = listener;
}

export function notify(notice: Notice | null): void {
  show(notice);
}

export function notifyFailure({ message, hint }: Failure): void {
  show({ text: message, hint, isFailure: true });
}

/** Do an action and say what became of it; `leave` goes on to something else. Return why it was not done, or null. */
export async function perform(action: string, given: Record<string, unknown> = {}, leave?: () => void): Promise<Failure | null> {
  return attempt(action, given, (done) => {
    leave?.();
    if (done.command) {
      commands.push(done.command);
    }
    show({ text: done.message, command: done.command });
  });
}

/** Take back a command of this page; without one, the last that was not taken back. */
export async function undo(asked?: string): Promise<void> {
  await running; // what it does may be the last command
  const command = asked ?? commands.at(-1);
  if (command === undefined) {
    notifyFailure(NOTHING_LEFT);
    return;
  }
  await attempt("undo", { command }, (done) => {
    commands = commands.filter((other) => other !== command);
    show({ text: done.message });
  });
}

function attempt(action: string, given: Record<string, unknown>, then: (done: Done) => void): Promise<Failure | null> {
  show(null); // its Undo would take back the command before
  running = answer(action, given, then);
  return running;
}

async function answer(action: string, given: Record<string, unknown>, then: (done: Done) => void): Promise<Failure | null> {
  try {
    const done = await act(action, given);
    then(done);
    refresh();
    return null;
  } catch (error) {
    notifyFailure(error as Failure);
    if ((error as Failure).isChanged) {
      refresh();
    }
    return error as Failure;
  }
}
