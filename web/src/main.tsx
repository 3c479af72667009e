import './style/tokens.css';
import './style/base.css';
import './style/threads.css';
import './style/chat.css';
import './style/requests.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { ErrorBoundary } from './parts/ErrorBoundary';
import { followSystemTheme } from './parts/theme';
import { connectFeed } from './wire/feed';

connectFeed();
followSystemTheme();
const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary place="app">
        <App />
      </ErrorBoundary>
    </StrictMode>,
  );
