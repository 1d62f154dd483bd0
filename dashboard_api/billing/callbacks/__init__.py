"""Payment callbacks: providers report what an account has paid for."""
