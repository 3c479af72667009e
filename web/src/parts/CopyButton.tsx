import { useEffect, useState } from 'react';
import { announce } from './Status';

const SHOWN_MS = 1_500;

/** A button that copies a text. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce('Copied');
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  );
}
