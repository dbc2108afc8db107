import { render } from 'preact';
import { VerifyApp } from './verify-app';
import '../style.css';

render(<VerifyApp />, document.getElementById('app') as HTMLElement);
