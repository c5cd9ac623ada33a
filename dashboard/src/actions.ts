// What a person does to a fact, and what the page says of it.

import { act, type Failure, refresh } from "./api";

export interface Notice {
  text: string;
  hint?: string;
  canUndo?: boolean;
  isFailure?: boolean;
}

let show: (notice: Notice | null) => void = () => undefined;

export function onNotice(listener: (notice: Notice | null) => void): void {
  show = listener;
}

export function notify(notice: Notice | null): void {
  show(notice);
}

/** Do an action and say what became of it; `leave` goes on to something else. Return whether it was done. */
export async function perform(action: string, given: Record<string, unknown> = {}, leave?: () => void): Promise<boolean> {
  try {
    const done = await act(action, given);
    leave?.();
    refresh();
    show({ text: done.message, canUndo: done.can_undo && action !== "undo" });
    return true;
  } catch (error) {
    const failure = error as Failure;
    show({ text: failure.message, hint: failure.hint, isFailure: true });
    return false;
  }
}
