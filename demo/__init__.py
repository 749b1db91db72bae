"""Make the demo data: train tiny models (`python -m demo`), or reduce published files (`demo.published`)."""
