import { useEffect, useState } from 'react';
import { announce } from './Status';
import { notify } from './Toasts';

const SHOWN_MS = 1_500;

/** Copy a text; return whether the browser has allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce('Copied');
    return true;
  } catch {
    notify('The browser did not allow copying. Select the text, and copy it by the keyboard.', { isError: true });
    return false;
  }
}

/** A button that copies a text. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    setCopied(await copyText(text));
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  );
}
